import type { Address } from '@assay/protocol/address'
import { type Micro, smallerOf } from '@assay/protocol/money'
import type { ReversedPart, Sale } from '@assay/till'
import { accounts, type LedgerLine, type LedgerTransaction, lockAccounts, owedTo, post } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { rewardAccounts } from './accounts.ts'
import { rewardReference } from './reward-sales.ts'
import { voidPasses } from './void-passes.ts'

type Row = {
  payer: Address
  network: string
  take_micro: Micro
  reversed_micro: Micro
  points: bigint
  affiliate: Address | null
  affiliate_micro: Micro
  affiliate_state: 'none' | 'pending' | 'payable' | 'reversed'
  referrer: Address | null
  referrer_points: bigint
  referred_points: bigint
}

/** The reversal hook: reverses, in proportion, all that a sale brought to anybody. What was used already is owed. */
export async function reverseSale(tx: Tx, sale: Sale, part: ReversedPart): Promise<void> {
  const row = await lockRow(tx, sale)
  if (!row) return
  const leftMicro = row.take_micro - row.reversed_micro
  const backMicro = smallerOf(leftMicro, (row.take_micro * part.micro) / sale.amountMicro)
  if (backMicro === 0n) return
  const reversal: Reversal = { tx, sale, row, backMicro, reason: part.reason, taken: new Map(), debtors: new Set() }
  const whole = backMicro === row.take_micro
  // Wallets first, then accounts, as a sale takes them: a purchase during the refund waits and never in a circle.
  await tx.query(`select from loyalty where wallet = any($1::text[]) order by wallet for no key update`, [
    [row.payer, ...(row.referrer ? [row.referrer] : [])],
  ])
  await lockAccounts(tx, [
    rewardAccounts.points(row.payer),
    ...(row.referrer ? [rewardAccounts.points(row.referrer)] : []),
    ...(row.affiliate ? [accounts.payable(row.network, row.affiliate, 'affiliate')] : []),
  ])
  await post(tx, [
    ...(await pointsBack(reversal, 'points', row.payer, row.points)),
    ...(await pointsBack(reversal, 'referrer_points', row.referrer, row.referrer_points)),
    ...(await pointsBack(reversal, 'referred_points', row.payer, row.referrer ? row.referred_points : 0n)),
    ...(await shareBack(reversal)),
  ])
  await note(reversal, whole)
}

type Reversal = {
  tx: Tx
  sale: Sale
  row: Row
  backMicro: Micro
  reason: ReversedPart['reason']
  /** Points already on their way back: the payer may give back for two reasons at once. */
  taken: Map<Address, bigint>
  /** Wallets that now owe points. */
  debtors: Set<Address>
}

async function lockRow(tx: Tx, sale: Sale): Promise<Row | undefined> {
  const { rows } = await tx.query<Row>(
    `select payer, network, take_micro, reversed_micro, points, affiliate, affiliate_micro, affiliate_state, referrer,
       referrer_points, referred_points
     from reward_sale where payment_id = $1 and round = $2 and reversed_micro < take_micro for update`,
    [sale.paymentId, sale.round],
  )
  return rows[0]
}

/** What must go back so that no more than the unrefunded part remains, rounded against the holder. */
function partOf({ row, backMicro }: Reversal, amount: bigint): bigint {
  const remaining = (amount * (row.take_micro - row.reversed_micro - backMicro)) / row.take_micro
  const before = (amount * (row.take_micro - row.reversed_micro)) / row.take_micro
  return before - remaining
}

const reversalKind = (reversal: Reversal, kind: string) => `${rewardReference(kind, reversal.sale)}:${reversal.reason}`

async function pointsBack(
  reversal: Reversal,
  kind: string,
  wallet: Address | null,
  points: bigint,
): Promise<LedgerTransaction[]> {
  const back = partOf(reversal, points)
  if (wallet === null || back === 0n) return []
  const account = rewardAccounts.points(wallet)
  const before = reversal.taken.get(wallet) ?? 0n
  const taken = smallerOf((await owedTo(reversal.tx, account)) - before, back)
  const regained = taken < back ? await voidPasses(reversal.tx, wallet, back - taken) : 0n
  const missing = back - taken - regained
  // What a pass held beyond the debt is there for the next reason, before anything is owed for it.
  reversal.taken.set(wallet, before + taken + smallerOf(missing, 0n))
  if (missing > 0n) reversal.debtors.add(wallet)
  const lines: LedgerLine[] = [
    ...(taken > 0n ? [{ account, amount: taken }] : []),
    ...(regained > 0n ? [{ account: rewardAccounts.pointsRedeemed(), amount: regained }] : []),
    ...(missing > 0n ? [{ account: rewardAccounts.pointsReceivable(wallet), amount: missing }] : []),
    // A pass goes as a whole; what it held beyond the debt is the wallet's again.
    ...(missing < 0n ? [{ account, amount: missing }] : []),
    { account: rewardAccounts.pointsIssued(), amount: -back },
  ]
  return [{ reference: reversalKind(reversal, kind), kind: `${kind}_back`, paymentId: reversal.sale.paymentId, lines }]
}

async function shareBack(reversal: Reversal): Promise<LedgerTransaction[]> {
  const { tx, row, sale } = reversal
  const { affiliate, network } = row
  const back = partOf(reversal, row.affiliate_micro)
  if (affiliate === null || back === 0n || row.affiliate_state === 'none') return []
  const lines: LedgerLine[] = []
  if (row.affiliate_state === 'pending')
    lines.push({ account: rewardAccounts.affiliatePending(network, affiliate), amount: back })
  else {
    const payable = accounts.payable(network, affiliate, 'affiliate')
    const taken = smallerOf(await owedTo(tx, payable), back)
    if (taken > 0n) lines.push({ account: payable, amount: taken })
    // Paid out already: what the affiliate earns next sets it off.
    if (back > taken)
      lines.push({ account: accounts.receivable(network, affiliate, 'affiliate'), amount: back - taken })
  }
  lines.push({ account: rewardAccounts.affiliateExpense(network, sale.routeId), amount: -back })
  return [{ reference: reversalKind(reversal, 'affiliate'), kind: 'affiliate_back', paymentId: sale.paymentId, lines }]
}

async function note({ tx, sale, row, backMicro, debtors }: Reversal, whole: boolean): Promise<void> {
  await tx.query(
    `update reward_sale set reversed_micro = reversed_micro + $3,
       affiliate_state = case when $4 and affiliate_state <> 'none' then 'reversed' else affiliate_state end
     where payment_id = $1 and round = $2`,
    [sale.paymentId, sale.round, backMicro, whole],
  )
  await tx.query(`update loyalty set spent_micro = spent_micro - $2, sales = sales - $3 where wallet = $1`, [
    row.payer,
    backMicro,
    whole ? 1 : 0,
  ])
  // A referrer may owe without ever having bought anything.
  if (debtors.size > 0)
    await tx.query(
      `insert into loyalty (wallet, spent_micro, sales, first_sale_at, owes)
       select wallet, 0, 0, $2, true from unnest($1::text[]) wallet order by wallet
       on conflict (wallet) do update set owes = true`,
      [[...debtors], new Date(sale.settledAtMs)],
    )
  // The wallet may come again through somebody else: its first sale has not happened.
  if (whole && row.referrer)
    await tx.query(`update referral set status = 'reversed' where wallet = $1 and payment_id = $2`, [
      row.payer,
      sale.paymentId,
    ])
}
