import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { type ChainTransfer, type Network, usdcOf } from '../chain/index.ts'
import { fromHex } from '../kernel/bytes.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { accounts, type LedgerLine, post, type TransferTurn, takeTransfer } from '../ledger/index.ts'
import type { Database, Tx } from '../store/database.ts'
import { debtAccount, owedAccount } from './debt-account.ts'
import { lockPayoutAccount } from './identity.ts'
import { openStates, type Payout } from './payout-record.ts'

export type PostDeps = { database: Database; clock: Clock; metrics: Metrics }

/** The part of a transfer that is posted; rows of the books and reads of the chain both have it. */
export type PaidTransfer = Omit<ChainTransfer, 'logIndex'>

/** Takes a transfer out of custody, in a final block, for posting. Throws when it was posted as something else. */
export async function takePaidTransfer(
  tx: Tx,
  network: Network,
  transfer: PaidTransfer,
  posting: { as: string; for: string },
  nowMs: number,
): Promise<TransferTurn> {
  const money = { ...transfer, network: network.caip2, asset: usdcOf(network) }
  const turn = await takeTransfer(tx, money, posting, nowMs)
  if (!turn) throw new Error(`${transfer.transaction} at ${transfer.position} is posted as something else`)
  await tx.query('update transfer set final = true where id = $1 and not final', [turn.id])
  return turn
}

/** Ends a payout with the transfer that the chain shows, whatever was meant to be sent. False when it has ended. */
export async function postPaid(
  deps: PostDeps,
  network: Network,
  payout: Payout,
  transfer: PaidTransfer,
): Promise<boolean> {
  const nowMs = deps.clock.nowMs()
  const posted = await deps.database.transaction(async (tx) => {
    await lockPayoutAccount(tx, payout)
    const { rows } = await tx.query<{ owed: Micro }>(
      `select amount_micro as owed from payout where id = $1 and state in ${openStates} for update`,
      [payout.id],
    )
    const [row] = rows
    if (!row) return false
    const turn = await takePaidTransfer(tx, network, transfer, { as: 'payout', for: payout.id }, nowMs)
    await tx.query(
      `update payout set state = 'paid', spent = true, reason = null, amount_micro = $2, payer = $3, nonce = $4,
         transaction = $5, block_number = $6, block_hash = $7, ended_at = $8 where id = $1`,
      [
        payout.id,
        transfer.amountMicro,
        transfer.sender,
        fromHex(transfer.paymentKey ?? '0x'),
        transfer.transaction,
        transfer.blockNumber,
        transfer.blockHash,
        new Date(nowMs),
      ],
    )
    await post(tx, [
      {
        reference: `paid:${payout.id}`,
        kind: 'paid_out',
        ...(payout.subject === null ? {} : { paymentId: payout.subject }),
        transfer: turn,
        lines: [
          { account: accounts.clearingPayouts(payout.network), amount: row.owed },
          { account: accounts.onchain(payout.network, 'custody'), amount: -transfer.amountMicro },
          ...(await arrivalLines(tx, payout.network, transfer)),
          ...(await differenceLines(tx, payout, row.owed, transfer)),
        ],
      },
    ])
    return true
  })
  if (posted) deps.metrics.count('payouts_paid', { purpose: payout.purpose, network: payout.network })
  return posted
}

/** What the operator withdraws to PAY_TO stays in the books: it is the operator's stake there. */
export async function arrivalLines(
  tx: Tx,
  network: string,
  { recipient, amountMicro }: Pick<PaidTransfer, 'recipient' | 'amountMicro'>,
): Promise<LedgerLine[]> {
  const { rowCount } = await tx.query(
    `select from own_address where network = $1 and address = $2 and payee = 'pay_to'`,
    [network, recipient],
  )
  if (rowCount === 0) return []
  return [
    { account: accounts.onchain(network, 'pay_to'), amount: amountMicro },
    { account: accounts.operator(network, 'usdc'), amount: -amountMicro },
  ]
}

/** What the payee got beyond the debt it owes back; what it did not get is still owed to it. */
async function differenceLines(
  tx: Tx,
  { network, payee, purpose }: Payout,
  owedMicro: Micro,
  { recipient, amountMicro }: { recipient: Address; amountMicro: Micro },
): Promise<LedgerLine[]> {
  const paidMicro = recipient === payee ? amountMicro : 0n
  const excess = recipient === payee ? amountMicro - owedMicro : amountMicro
  const missing = owedMicro - paidMicro
  return [
    ...(excess > 0n ? [{ account: await debtAccount(tx, network, recipient, purpose), amount: excess }] : []),
    ...(missing > 0n ? [{ account: owedAccount(network, payee, purpose), amount: -missing }] : []),
  ]
}
