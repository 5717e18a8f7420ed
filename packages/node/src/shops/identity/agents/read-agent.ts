import type { Sql } from '@assay/till/store/database'
import type { IdentityDeps } from '../deps.ts'
import {
  list,
  toWalletStatus,
  type WalletStatus,
  type WalletStatusRow,
  walletStatusSql,
} from '../rating/read-wallet.ts'
import { type Agent, type AgentRow, agentSql, toAgent } from './store.ts'
import { type AgentAddress, subjectsOf } from './subject.ts'

export type KnownOfAgent = {
  agent: Agent | undefined
  walletStatus: WalletStatus
  paymentAuthorizations: readonly unknown[]
}

export type ReadDeps = Pick<IdentityDeps, 'ports' | 'operator'> & { database: Sql }

type Row = WalletStatusRow & { agent: AgentRow | null; mandates: unknown[] | null }

/** All that a document shows of a wallet, in one statement: a document nobody asked for before costs little else. */
export async function readAgent(deps: ReadDeps, named: AgentAddress, nowMs: number): Promise<KnownOfAgent> {
  const { mandates } = deps.ports
  const more = `(select row_to_json(a) from (${agentSql('$2')}) a) as agent,
    ${list(mandates.openSql('$1', '$3::timestamptz'))} as mandates, $3::timestamptz as asked_at,`
  const { rows } = await deps.database.query<Row>({
    name: 'identity-known',
    text: walletStatusSql(deps.ports.evidence, more),
    values: [named.address, subjectsOf(named), new Date(nowMs)],
  })
  const [row] = rows
  return {
    agent: row?.agent ? toAgent(row.agent) : undefined,
    walletStatus: await toWalletStatus(deps, deps.database, named.address, row),
    paymentAuthorizations: mandates.show(row?.mandates ?? [], nowMs),
  }
}
