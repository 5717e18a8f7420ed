import { formatAccount, parseAccount } from '@assay/protocol/account'
import type { Hex } from '@assay/protocol/bytes'
import { tryCanonicalJson } from '@assay/protocol/canonical-json'
import { declarationCharsMax, declarationMessage, declarationMs } from '@assay/protocol/mesh/agent-declaration'
import { fromHex } from '@assay/till/kernel/bytes'
import { Problem } from '@assay/till/kernel/problem'
import { checkAccountSignature } from '@assay/till/proofs'
import type { Sql } from '@assay/till/store/database'
import { hashMessage } from 'viem'
import { z } from 'zod'
import { readUpTo } from '../../read-up-to.ts'
import type { IdentityDeps } from '../deps.ts'
import { declarationShape, oneOfEach } from './declaration.ts'
import { checkRegistration } from './declare-capabilities.ts'
import { appendVersion, type Submitter } from './store.ts'

export const signedDeclaration = z.strictObject({
  type: z.literal('x402-agent-declaration'),
  account: z.string().max(80).describe('CAIP-10; a contract wallet is asked on its chain (ERC-1271).'),
  sequence: z.int().min(1).describe('A time in milliseconds; a greater one replaces a smaller one.'),
  declaration: oneOfEach(z.strictObject(declarationShape)),
  signature: z
    .string()
    .regex(/^0x[0-9a-f]*$/)
    .max(16_386)
    .describe('EIP-191 by the account over `x402 agent declaration`, a line feed and the canonical JSON of all else.'),
})

export type Taken = { status: 'taken' | 'known'; version: number } | { status: 'refused'; reason: string }

const skewMs = 60_000
const newPerNodeAndDay = 256

export const nodeSubmitter = (did: string): Submitter => ({ name: did, newPerDay: newPerNodeAndDay })

/** Takes a declaration that its wallet signed, from itself or from a node that passes it on. */
export async function takeDeclaration(
  deps: Pick<IdentityDeps, 'database' | 'clock' | 'proofs' | 'registries'>,
  value: unknown,
  submittedBy: Submitter,
): Promise<Taken> {
  const parsed = signedDeclaration.safeParse(value)
  if (!parsed.success || (tryCanonicalJson(value)?.length ?? declarationCharsMax + 1) > declarationCharsMax)
    return refuse('malformed')
  const { signature, ...declared } = parsed.data
  const account = parseAccount(declared.account)
  if (account === undefined || formatAccount(account) !== declared.account) return refuse('account is not CAIP-10')
  const nowMs = deps.clock.nowMs()
  if (declared.sequence > nowMs + skewMs || declared.sequence < nowMs - declarationMs) return refuse('not of this time')
  const digest = fromHex(hashMessage(declarationMessage(declared)))
  const { checkContractSignature } = deps.proofs
  const proven = await checkAccountSignature(checkContractSignature, { account, digest, signature: signature as Hex })
  if (proven === undefined) return refuse('not signed by its account')
  await checkRegistration(deps, proven, declared.declaration)
  const subject = proven.kind === 'key' ? proven.address : formatAccount(proven)
  return deps.database.transaction(async (tx) => {
    const known = await newestOf(tx, subject)
    if (known !== undefined && known.sequence >= declared.sequence) return { status: 'known', version: known.version }
    const version = await appendVersion(tx, {
      ...{ subject, wallet: proven.address, submittedBy, signer: formatAccount(proven) },
      ...{ declaration: declared.declaration, nowMs },
    })
    await tx.query(
      `insert into agent_signed (subject, sequence, version, document, received_at) values ($1, $2, $3, $4, $5)
       on conflict (subject) do update set sequence = excluded.sequence, version = excluded.version,
         document = excluded.document, received_at = excluded.received_at`,
      [subject, declared.sequence, version, JSON.stringify(value), new Date(nowMs)],
    )
    return { status: 'taken', version }
  })
}

const refuse = (reason: string): Taken => ({ status: 'refused', reason })

async function newestOf(sql: Sql, subject: string): Promise<{ sequence: number; version: number } | undefined> {
  const { rows } = await sql.query<{ sequence: bigint; version: number }>(
    'select sequence, version from agent_signed where subject = $1',
    [subject],
  )
  return rows[0] && { sequence: Number(rows[0].sequence), version: rows[0].version }
}

const declarationsPageMax = 64
const pageCharsMax = 393_216

/** What came after a moment, oldest first, while its agent is active and has not declared otherwise since. */
export async function readDeclarations(
  { database: sql, clock }: Pick<IdentityDeps, 'database' | 'clock'>,
  sinceMs: number,
): Promise<{ data: unknown[]; until_ms: number }> {
  const { rows } = await sql.query<{ document: string; received_at: Date }>(
    `select s.document, s.received_at from agent_signed s join agent a on a.subject = s.subject and a.version = s.version
     where s.received_at > $1 and a.deactivated_at is null order by s.received_at limit ${declarationsPageMax}`,
    [new Date(sinceMs)],
  )
  let chars = 0
  const page = rows.filter(({ document }, place) => {
    chars += document.length
    return place === 0 || chars <= pageCharsMax
  })
  const more = rows.length === declarationsPageMax || page.length < rows.length
  const until_ms = readUpTo(sinceMs, { lastMs: page.at(-1)?.received_at.getTime(), more, nowMs: clock.nowMs() })
  return { data: page.map(({ document }) => JSON.parse(document)), until_ms }
}

/** When the newest one arrived; 0 where there is none. */
export async function newestDeclarationMs(sql: Sql): Promise<number> {
  const { rows } = await sql.query<{ newest: Date | null }>('select max(received_at) as newest from agent_signed')
  return rows[0]?.newest?.getTime() ?? 0
}

/** For a person or program that gave it: why it was not taken. */
export function requireAccepted(taken: Taken): Exclude<Taken, { status: 'refused' }> {
  if (taken.status === 'refused')
    throw new Problem('proof_invalid', { detail: `The declaration is not taken: ${taken.reason}.` })
  return taken
}
