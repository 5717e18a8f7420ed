import type { Address } from '@assay/protocol/address'
import { formatUsd, type Micro } from '@assay/protocol/money'
import { accounts } from '../ledger/index.ts'
import type { Tx } from '../store/database.ts'
import { createPayout } from './create-payout.ts'
import {
  type CustodyFacts,
  type FinalBalance,
  lockSpare,
  readCustodyFacts,
  readFinalBalance,
  spareMicro,
} from './custody-money.ts'
import { nextNumber } from './identity.ts'
import { withdrawalPurpose } from './purposes.ts'
import { requestWithdrawal } from './request-withdrawal.ts'
import { mayPayOut, type PayoutChain, type PayoutDeps } from './run-payouts.ts'
import { destinationsOn, isAllowed } from './withdraw-policy.ts'
import { saveCustodyStatus } from './withdrawal-status.ts'

type Asked = { id: string; network: string; payee: Address; amount_micro: Micro | null; n: bigint; scheduled: boolean }

const statusMs = 120_000

/** Whether a withdrawal was asked for, or the status of a chain is old. */
export const withdrawalsDueSql = ({ chains }: Pick<PayoutDeps, 'chains'>) =>
  `exists (select from withdrawal where state = 'asked') or (select count(*) from custody_status
     where checked_at > $1 - interval '${statusMs} milliseconds') < ${chains.filter(({ key }) => key).length}`

/** Carries out what operators and the schedule asked for, and keeps what can be withdrawn for the operator to see. */
export async function runWithdrawals(deps: PayoutDeps): Promise<void> {
  for (const payoutChain of deps.chains)
    try {
      await runChain(deps, payoutChain)
    } catch (error) {
      deps.log.warn(
        { network: payoutChain.chain.network.caip2, error: String(error) },
        'withdrawals could not be carried out',
      )
    }
}

async function runChain(deps: PayoutDeps, { chain, key }: PayoutChain): Promise<void> {
  if (!key) return
  const network = chain.network.caip2
  const { rows } = await deps.database.query<Asked>(
    `select id, network, payee, amount_micro, n, scheduled from withdrawal where network = $1 and state = 'asked' order by requested_at`,
    [network],
  )
  if (rows.length === 0 && !(await isStale(deps, network))) return
  const balance = await readFinalBalance(chain, key.address, rows.length === 0 ? 'patient' : undefined)
  const facts = await readCustodyFacts(deps.database, balance, await committedOn(deps, network))
  await saveCustodyStatus(deps.database, balance, facts, deps.clock.nowMs())
  if ((await deps.isPaused()) || !(await mayPayOut(deps, network))) return
  if (rows.length === 0) await askBySchedule(deps, network, facts)
  for (const asked of rows) await deps.database.transaction((tx) => execute(deps, tx, asked, balance))
}

const committedOn = async ({ committedMicro }: Pick<PayoutDeps, 'committedMicro'>, network: string): Promise<Micro> =>
  (await committedMicro?.(network)) ?? 0n

async function isStale({ database, clock }: PayoutDeps, network: string): Promise<boolean> {
  const { rowCount } = await database.query('select from custody_status where network = $1 and checked_at > $2', [
    network,
    new Date(clock.nowMs() - statusMs),
  ])
  return rowCount === 0
}

async function askBySchedule(deps: PayoutDeps, network: string, facts: CustodyFacts): Promise<void> {
  const { withdrawals: policy, database, clock } = deps
  const to = policy && destinationsOn(policy, network)[0]
  if (policy?.everyMs === undefined || !to || spareMicro(facts) < policy.minimumMicro || spareMicro(facts) <= 0n) return
  const { rowCount } = await database.query(
    `select from withdrawal where network = $1 and state <> 'refused' and requested_at > $2 limit 1`,
    [network, new Date(clock.nowMs() - policy.everyMs)],
  )
  if (rowCount > 0) return
  await requestWithdrawal(deps, policy, { network, payee: to.address, by: 'schedule', scheduled: true })
}

/** One payout per request. Chain and books are both asked, so a balance that was read just before can only be too low. */
async function execute(deps: PayoutDeps, tx: Tx, asked: Asked, balance: FinalBalance): Promise<void> {
  const { network, payee } = asked
  await lockSpare(tx, network)
  const { rowCount } = await tx.query(`select from withdrawal where id = $1 and state = 'asked' for update`, [asked.id])
  if (rowCount === 0) return
  // The process that wrote the request may have had other settings: those of the node that pays decide.
  if (!deps.withdrawals || !isAllowed(deps.withdrawals, network, payee)) {
    await decide(deps, tx, asked, { state: 'refused', outcome: 'destination_not_allowed' })
    return
  }
  const key = { network, purpose: withdrawalPurpose, account: payee }
  if ((await nextNumber(tx, key)) > asked.n) {
    const { rows } = await tx.query<{ id: string }>(
      `select id from payout where network = $1 and purpose = $2 and account = $3 and n = $4 and spent`,
      [network, withdrawalPurpose, payee, asked.n],
    )
    await decide(deps, tx, asked, { state: 'paying', outcome: 'paid_before', payoutId: rows[0]?.id })
    return
  }
  const committedMicro = await committedOn(deps, network)
  const spare = spareMicro(await readCustodyFacts(tx, balance, committedMicro))
  const amountMicro = asked.amount_micro ?? spare
  if (amountMicro <= 0n || amountMicro > spare) {
    const outcome = `only ${formatUsd(spare > 0n ? spare : 0n)} USD can be withdrawn`
    await decide(deps, tx, asked, { state: 'refused', outcome })
    return
  }
  const payout = await createPayout(tx, {
    id: deps.ids.next('po'),
    network,
    payee,
    amountMicro,
    purpose: withdrawalPurpose,
    from: [{ account: accounts.operator(network, 'usdc'), amount: amountMicro }],
    // A scheduled withdrawal above the approval limit waits for a person.
    approved: !asked.scheduled || amountMicro <= deps.policy.approvalMicro,
    nowMs: deps.clock.nowMs(),
  })
  // The one before is not finished: this request waits.
  if (payout.status !== 'open') await decide(deps, tx, asked, { state: 'paying', payoutId: payout.id })
}

type Decision = { state: 'paying' | 'refused'; outcome?: string; payoutId?: string | undefined }

async function decide({ clock }: PayoutDeps, tx: Tx, { id }: Asked, decision: Decision): Promise<void> {
  await tx.query(`update withdrawal set state = $2, outcome = $3, payout_id = $4, decided_at = $5 where id = $1`, [
    id,
    decision.state,
    decision.outcome ?? null,
    decision.payoutId ?? null,
    new Date(clock.nowMs()),
  ])
}
