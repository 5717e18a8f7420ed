import { Problem } from '@assay/till/kernel/problem'
import type { Sql } from '@assay/till/store/database'
import { findAttestation } from '../attestations/index.ts'
import { matchSuffix } from '../sources/index.ts'
import { royaltyProblems } from './problems.ts'
import { findRemittance, type Remittance } from './store.ts'

type ParentPage = { domain: string; registrable: string; url: string }

export type Parent = {
  id: string
  kind: Remittance['parentKind']
  /** Pages of the attestation at the end of the line: their creators get the royalty. */
  pages: readonly ParentPage[]
  /** From this parent to the first: what was made from what. */
  line: readonly { id: string; kind: Remittance['parentKind'] }[]
}

const depthMax = 32

/** Follows what was made from what to where it began. */
export async function findParent(sql: Sql, id: string): Promise<Parent> {
  const line: { id: string; kind: Remittance['parentKind'] }[] = []
  for (let at = id; line.length < depthMax; ) {
    const remittance = at.startsWith('roy_') ? await findRemittance(sql, { id: at }) : undefined
    if (remittance) {
      line.push({ id: at, kind: 'remittance' })
      at = remittance.parent
      continue
    }
    const pages = await pagesOf(sql, at)
    if (pages) line.push({ id: at, kind: 'attestation' })
    else if (await isServedPayment(sql, at)) line.push({ id: at, kind: 'payment' })
    else break
    const [first] = line
    return { id, kind: first?.kind ?? 'payment', pages: pages ?? [], line }
  }
  if (line.length >= depthMax)
    throw new Problem(royaltyProblems.parent_unknown, {
      detail: `${id.slice(0, 64)} goes back over more than ${depthMax} remittances; a line is followed so far and no further.`,
      hint: 'Name an earlier remittance of the line, or the attestation it began with.',
    })
  throw new Problem(royaltyProblems.parent_unknown, {
    detail: `${id.slice(0, 64)} is no attestation, remittance or payment of this node.`,
  })
}

type ClaimRecord = { sources?: { domain: string; source_url: string }[] }

async function pagesOf(sql: Sql, id: string): Promise<ParentPage[] | undefined> {
  const row = await findAttestation(sql, id)
  if (!row) return undefined
  const { sources } = JSON.parse(row.record) as ClaimRecord
  if (row.kind === 'citation' || !sources)
    return [{ domain: row.domain, registrable: row.registrable, url: row.sourceUrl }]
  // Only the first source's registrable domain is a column; for the others it follows from the name.
  return sources.map(({ domain, source_url: url }) => ({
    domain,
    registrable: matchSuffix(domain).registrable ?? domain,
    url,
  }))
}

async function isServedPayment(sql: Sql, id: string): Promise<boolean> {
  const { rowCount } = await sql.query(`select from payment where id = $1 and state = 'served'`, [id])
  return rowCount > 0
}
