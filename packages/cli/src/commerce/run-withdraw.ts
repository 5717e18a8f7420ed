import { parseUsd } from '@assay/sdk'
import type { CommandContext } from '../command-context.ts'
import { CliError, exitCodes, usageError } from '../exit-codes.ts'
import { amountText } from '../operator/amount-text.ts'
import type { Operator } from '../operator/connect.ts'
import { printResult, table } from '../output.ts'

export type WithdrawOptions = {
  network?: string
  amount?: string
  all?: boolean
  to: string
  wait: number
  yes?: boolean
  json?: boolean
}

const whyTexts = {
  destination_not_allowed: 'this address is not in WITHDRAW_TO',
  asked_before: 'a withdrawal to this address waits already; `assay payouts withdrawable` shows it',
} as const

export async function withdraw(context: CommandContext, operator: Operator, options: WithdrawOptions): Promise<void> {
  const { terminal } = context
  const { node, database, config, actor } = operator
  const amountMicro = options.amount === undefined ? undefined : parseUsd(options.amount)
  const network = options.network ?? config.networks[0]?.caip2 ?? ''
  const known = config.networks.flatMap(({ caip2, dollars = [] }) => [
    caip2,
    ...dollars.flatMap(({ address, eip3009 }) => (eip3009 === false ? [] : [`${caip2}/erc20:${address}`])),
  ])
  if (!known.includes(network))
    throw usageError(`--network: the node pays nothing out on ${network}`, `One of ${known.join(', ')}.`)
  const what = amountMicro === undefined ? 'all that can be withdrawn' : amountText(amountMicro, network)
  if (!options.yes && terminal.interactive && !(await terminal.confirm(`Withdraw ${what} on ${network}?`)))
    throw new CliError(exitCodes.refused, 'not_confirmed', 'not confirmed; nothing was changed')
  const clock = node.systemClock
  const asked = await node.requestWithdrawal(
    { database, clock, ids: node.createIds(clock, node.systemRng) },
    config.withdrawals,
    {
      network,
      payee: options.to.toLowerCase() as `0x${string}`,
      by: actor,
      ...(amountMicro === undefined ? {} : { amountMicro }),
    },
  )
  if (asked.status === 'refused')
    throw new CliError(exitCodes.refused, asked.why, whyTexts[asked.why], {
      hint: 'WITHDRAW_TO names the addresses that the node may send its own money to.',
    })
  // Where no node runs nobody carries it out now.
  const withdrawal = await waitFor(operator, asked.id, operator.stopped ? 0 : options.wait)
  if (withdrawal?.state === 'refused')
    throw new CliError(exitCodes.refused, 'refused', withdrawal.outcome ?? 'the withdrawal was refused')
  const payout = withdrawal?.payout ?? null
  const document = { id: asked.id, network, to: options.to, payout: payout && payoutOf(payout) }
  printResult(terminal, options.json, document, () =>
    payout?.state === 'paid'
      ? `withdrew ${amountText(payout.amountMicro, network)} with ${payout.transaction}`
      : payout?.state === 'waiting'
        ? `${payout.id} waits for \`assay payouts approve\`${payout.reason === null ? '' : `: ${payout.reason}`}`
        : `the withdrawal is queued as ${asked.id}; a running node sends it`,
  )
}

const payoutOf = (payout: { id: string; state: string; amountMicro: bigint; transaction: string | null }) => ({
  id: payout.id,
  state: payout.state,
  amount_micro: payout.amountMicro,
  transaction: payout.transaction,
})

async function waitFor({ node, database }: Operator, id: string, seconds: number) {
  const deadlineMs = node.systemClock.monotonicMs() + seconds * 1000
  for (;;) {
    const [withdrawal] = await node.listWithdrawals(database, { limit: 1, id })
    const state = withdrawal?.payout?.state
    const ended = withdrawal?.state === 'refused' || state === 'paid' || state === 'waiting'
    if (ended || node.systemClock.monotonicMs() >= deadlineMs) return withdrawal
    await node.systemClock.sleep(250)
  }
}

export async function showWithdrawable(
  { terminal }: CommandContext,
  { node, database, config }: Operator,
  options: { json?: boolean },
): Promise<void> {
  const status = await node.readCustodyStatus(database)
  const withdrawals = await node.listWithdrawals(database, { limit: 10 })
  const document = {
    data: status.map((row) => ({
      network: row.network,
      withdrawable_micro: row.withdrawableMicro,
      balance_micro: row.balanceMicro,
      posted_micro: row.postedMicro,
      others_micro: row.othersMicro,
      debts_micro: row.debtsMicro,
      leaving_micro: row.leavingMicro,
      reserved_micro: row.reservedMicro,
      block: row.block,
      checked_at: row.checkedAt.toISOString(),
    })),
    destinations: config.withdrawals.destinations,
    withdrawals: withdrawals.map((row) => ({
      id: row.id,
      network: row.network,
      to: row.payee,
      asked_micro: row.askedMicro,
      state: row.state,
      outcome: row.outcome,
      requested_by: row.requestedBy,
      requested_at: row.requestedAt.toISOString(),
      payout: row.payout && payoutOf(row.payout),
    })),
  }
  printResult(terminal, options.json, document, () =>
    status.length === 0
      ? 'nothing is known yet; a running node reads custody every two minutes'
      : [
          table(status, [
            { title: 'network', of: (row) => row.network },
            { title: 'withdrawable', of: (row) => amountText(row.withdrawableMicro, row.network), right: true },
            { title: 'on chain', of: (row) => amountText(row.balanceMicro, row.network), right: true },
            { title: 'of others', of: (row) => amountText(row.othersMicro, row.network), right: true },
            { title: 'own debts', of: (row) => amountText(row.debtsMicro, row.network), right: true },
            { title: 'on its way', of: (row) => amountText(row.leavingMicro, row.network), right: true },
            { title: 'reserved', of: (row) => amountText(row.reservedMicro, row.network), right: true },
            { title: 'as of', of: (row) => row.checkedAt.toISOString() },
          ]),
          ...withdrawals.map(
            (row) =>
              `${row.id} ${row.payout?.state ?? row.state} to ${row.payee}${row.outcome === null ? '' : `: ${row.outcome}`}`,
          ),
        ].join('\n'),
  )
}
