import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import { type Micro, smallerOf } from '@assay/protocol/money'
import type { ChainPort, Network } from '../chain/index.ts'
import { fromHex } from '../kernel/bytes.ts'
import { accounts, type LedgerLine, lockBalances, owedTo, post, takePayToPart } from '../ledger/index.ts'
import type { Sql, Tx } from '../store/database.ts'
import { readDatabaseId } from '../store/instance.ts'
import { recordRestore } from '../store/restore.ts'
import { creditRefundPurposes, payToRefundPurpose } from './credit-refund-purposes.ts'
import { debtAccount } from './debt-account.ts'
import { lockPayoutAccount, nextNumber, payoutNonce, refundAccount } from './identity.ts'
import { openStates, type Payout, payoutColumns, toPayout } from './payout-record.ts'
import { arrivalLines, type PaidTransfer, postPaid, takePaidTransfer } from './post-paid.ts'
import type { PayoutDeps } from './run-payouts.ts'

export type ExplainDeps = Pick<PayoutDeps, 'database' | 'clock' | 'ids' | 'log' | 'metrics' | 'purposes'>

/** A nonce further on is used only after those before it are final, so few can be missing at once. */
const lookAhead = 64n
const refundsMax = 5_000

type Found = { purpose: string; account: string; n: bigint; subject?: string | null }

/**
 * Posts a final transfer out of custody if it is a payout of this database, known or lost by a restore; a lost one
 * is noted as a restore, for what came in since the backup may have been sold or credited before. `unknown`:
 * no payout has its nonce; a root of creators may, and otherwise somebody else used the custody key.
 */
export async function explainPayout(
  deps: ExplainDeps,
  chain: Pick<ChainPort, 'network' | 'head'>,
  transfer: PaidTransfer,
): Promise<'posted' | 'unknown'> {
  const { network } = chain
  const { paymentKey: nonce } = transfer
  if (nonce === undefined) return 'unknown'
  const signed = await findPayout(deps.database, `network = $1 and payer = $2 and nonce = $3 and state <> 'returned'`, [
    network.caip2,
    transfer.sender,
    fromHex(nonce),
  ])
  if (signed?.state === 'paid') return 'posted'
  const found = signed ?? (await findIdentity(deps, network, transfer, nonce))
  if (!found) return 'unknown'
  const open = await findPayout(
    deps.database,
    `network = $1 and purpose = $2 and account = $3 and n = $4 and state in ${openStates}`,
    [network.caip2, found.purpose, found.account, found.n],
  )
  if (open) await postPaid(deps, network, open, transfer)
  else await postLostPayout(deps, chain, found, transfer)
  return 'posted'
}

async function findPayout(sql: Sql, condition: string, values: unknown[]): Promise<Payout | undefined> {
  const { rows } = await sql.query(`select ${payoutColumns} from payout where ${condition}`, values)
  return rows[0] && toPayout(rows[0])
}

/** The identity whose nonce this is. The payee of a wallet's payouts is the wallet, of a refund the payer. */
async function findIdentity(
  { database, purposes }: ExplainDeps,
  network: Network,
  { sender, recipient }: PaidTransfer,
  nonce: Hex,
): Promise<Found | undefined> {
  const databaseId = await readDatabaseId(database)
  const place = { network: network.caip2, asset: network.usdc.address, custody: sender }
  const isIt = (found: Found) => payoutNonce(databaseId, { ...place, ...found }) === nonce
  for (const { purpose } of purposes) {
    const next = await nextNumber(database, { network: network.caip2, purpose, account: recipient })
    for (let n = next + lookAhead; n >= 0n; n -= 1n)
      if (isIt({ purpose, account: recipient, n })) return { purpose, account: recipient, n }
  }
  // A restore may have taken the payment too; its transfer is recorded again.
  const { rows } = await database.query<{ id: string | null; key: Buffer }>(
    `(select id, payment_key as key from payment where network = $1 and payer = $2 and ended_at is not null
       order by ended_at desc limit $3)
     union all
     (select id, payment_key from payment where network = $1 and payer = $2 and open_to_payer and ended_at is null limit $3)
     union all
     (select null, payment_key from transfer where network = $1 and sender = $2 and payment_key is not null
       and posted_as is distinct from 'payment' order by id desc limit $3)`,
    [network.caip2, recipient, refundsMax],
  )
  return rows
    .map(({ id, key }) => ({
      purpose: 'refund',
      account: refundAccount({ payer: recipient, paymentKey: toHex(key) }),
      n: 0n,
      subject: id,
    }))
    .find(isIt)
}

/** The restore lost its row: it is charged against what the payee is owed, and the rest becomes the payee's debt. */
async function postLostPayout(
  deps: ExplainDeps,
  chain: Pick<ChainPort, 'network' | 'head'>,
  found: Found,
  transfer: PaidTransfer,
): Promise<void> {
  const { network } = chain
  const nowMs = deps.clock.nowMs()
  const id = deps.ids.next('po')
  const { number: untilBlock } = await chain.head()
  // The gap first: a crash in between finds the same payout again.
  const reason = `the custody nonce ${transfer.paymentKey} paid a payout that the books have lost`
  await recordRestore(deps.database, deps, { network: network.caip2, untilBlock, reason })
  await deps.database.transaction(async (tx) => {
    await lockPayoutAccount(tx, { network: network.caip2, ...found })
    const turn = await takePaidTransfer(tx, network, transfer, { as: 'payout', for: id }, nowMs)
    await insertPaid(tx, { network: network.caip2, id, found, transfer, nowMs })
    await post(tx, [
      {
        reference: `paid:${id}`,
        kind: 'paid_out',
        ...(found.subject ? { paymentId: found.subject } : {}),
        transfer: turn,
        lines: [
          { account: accounts.onchain(network.caip2, 'custody'), amount: -transfer.amountMicro },
          ...(await arrivalLines(tx, network.caip2, transfer)),
          ...(await owedLines(tx, network.caip2, found.purpose, transfer)),
        ],
      },
    ])
  })
  deps.metrics.count('payouts_paid', { purpose: found.purpose, network: network.caip2 })
}

async function owedLines(
  tx: Tx,
  network: string,
  purpose: string,
  { recipient, amountMicro }: { recipient: Address; amountMicro: Micro },
): Promise<LedgerLine[]> {
  const owed = [
    accounts.payable(network, recipient, purpose),
    ...(creditRefundPurposes.includes(purpose) ? [accounts.credit(network, recipient)] : []),
  ]
  await lockBalances(tx, owed)
  const lines: LedgerLine[] = []
  let rest = amountMicro
  for (const account of owed) {
    const covered = smallerOf(await owedTo(tx, account), rest)
    if (covered <= 0n) continue
    if (purpose === payToRefundPurpose) await takePayToPart(tx, account, covered)
    lines.push({ account, amount: covered })
    rest -= covered
  }
  if (rest > 0n) lines.push({ account: await debtAccount(tx, network, recipient, purpose), amount: rest })
  return lines
}

/** A payout that only the chain remembers. */
type LostPayout = { network: string; id: string; found: Found; transfer: PaidTransfer; nowMs: number }

async function insertPaid(tx: Tx, { network, id, found, transfer, nowMs }: LostPayout): Promise<void> {
  await tx.query(
    `insert into payout (id, network, payee, amount_micro, purpose, account, n, spent, subject, state, reason, payer, nonce,
       transaction, block_number, block_hash, created_at, ended_at)
     values ($1, $2, $3, $4, $5, $6, $7, true, $8, 'paid', 'found_on_chain', $9, $10, $11, $12, $13, $14, $14)`,
    [
      id,
      network,
      transfer.recipient,
      transfer.amountMicro,
      found.purpose,
      found.account,
      found.n,
      found.subject ?? null,
      transfer.sender,
      fromHex(transfer.paymentKey ?? '0x'),
      transfer.transaction,
      transfer.blockNumber,
      transfer.blockHash,
      new Date(nowMs),
    ],
  )
}
