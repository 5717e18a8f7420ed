import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import type { MeshOffer, MeshStatement } from '@assay/protocol/mesh/read-statement'
import { claimedKeyId, statementType } from '@assay/protocol/mesh/statement'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { createJwsSigner } from '@assay/till/signing'
import type { Sql } from '@assay/till/store/database'
import type { Announcements } from '../shop.ts'
import type { MeshDeps } from './deps.ts'
import { openKnownStatement } from './known-statements.ts'
import { meshProtocol } from './limits.ts'

/** What a node says of itself, signed: the compact JWS, and what it holds. */
export type OwnStatement = { jws: string; statement: MeshStatement }

/** A day ahead, nobody with a right clock ever took it, and nobody remembers: the clock was wrong when it was made. */
const rememberedMs = 86_400_000

/**
 * The statement that is valid now, made again when half of its life is over, when the key changed or when other things
 * are offered. All processes of a node share the row, so its sequence grows one by one. `jws`: what was just read there.
 */
export async function ownStatement(deps: MeshDeps, jws?: string): Promise<OwnStatement> {
  const kept = jws === undefined ? await readKept(deps.database) : openKept(jws)
  if (kept !== undefined && stillGood(deps, kept)) return kept
  return deps.database.transaction(async (tx) => {
    const { rows } = await tx.query<{ sequence: bigint }>(
      `update mesh_self set sequence = case when sequence > $1::bigint + $2::bigint then $1::bigint else greatest(sequence + 1, $1::bigint) end
       returning sequence`,
      [Math.floor(deps.clock.nowMs()), rememberedMs],
    )
    const made = makeStatement(deps, Number(rows[0]?.sequence ?? 1))
    await tx.query(`update mesh_self set statement = $1, issued_at = $2`, [made.jws, made.statement.issued_at])
    return made
  })
}

export function makeStatement(deps: MeshDeps, sequence: number): OwnStatement {
  const { self, clock, settings, keyring } = deps
  const nowMs = clock.nowMs()
  const statement: MeshStatement = {
    protocol: meshProtocol,
    did: self.did,
    address: self.origin,
    base_url: self.baseUrl,
    name: self.name,
    sequence,
    issued_at: toRfc3339(nowMs),
    expires_at: toRfc3339(nowMs + settings.statementSeconds * 1000),
    networks: [...self.networks],
    offers: [...deps.offers()],
    ...deps.announced?.(),
  }
  const authority = new URL(self.origin).host
  const jws = createJwsSigner(keyring, { authority, clock, typ: statementType }).sign(canonicalJson(statement))
  return { jws, statement }
}

/** The address under which the node of this database last spoke. */
export const ownAddress = async (sql: Sql): Promise<string | undefined> => (await readKept(sql))?.statement.address

async function readKept(sql: Sql): Promise<OwnStatement | undefined> {
  const { rows } = await sql.query<{ statement: string | null }>('select statement from mesh_self')
  return rows[0]?.statement ? openKept(rows[0].statement) : undefined
}

function openKept(jws: string): OwnStatement | undefined {
  const statement = openKnownStatement(jws)
  return statement && { jws, statement }
}

function stillGood(deps: MeshDeps, { jws, statement }: OwnStatement): boolean {
  const nowMs = deps.clock.nowMs()
  const issuedMs = Date.parse(statement.issued_at)
  const halfOver = nowMs - issuedMs > deps.settings.statementSeconds * 500
  return (
    !halfOver &&
    issuedMs <= nowMs &&
    statement.address === deps.self.origin &&
    statement.base_url === deps.self.baseUrl &&
    claimedKeyId(jws) === deps.keyring.active().keyId &&
    formOf(statement.offers) === formOf(deps.offers()) &&
    sameAnnounced(statement, deps.announced?.() ?? {})
  )
}

const forms = new WeakMap<readonly MeshOffer[], string>()

/** Offers are many and stay the same from one statement to the next. */
function formOf(offers: readonly MeshOffer[]): string {
  const known = forms.get(offers) ?? canonicalJson([...offers])
  forms.set(offers, known)
  return known
}

function sameAnnounced({ log, witness }: MeshStatement, announced: Announcements): boolean {
  const form = (value: Json | undefined) => canonicalJson(value ?? null)
  return form(log) === form(announced.log) && form(witness) === form(announced.witness)
}
