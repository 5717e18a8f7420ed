import type { Sql } from '../../packages/till/src/store/database.ts'
import {
  blockNumber,
  type ChainRecord,
  readTransfers,
  scanTransfers,
  type Transfer,
  transferKey,
} from './chain-transfers.ts'
import type { TestChain } from './send-transaction.ts'
import { tokenBalance } from './token-balance.ts'
import { Violation } from './violation.ts'

/**
 * I13 what is sold, credited and paid out is never more than what arrived, I14 each transfer is posted exactly once, as
 * what it is, I15 every payment is terminal in time, I8 payouts sent are payouts posted, I9 wallets hold what the books
 * say.
 */

/** The tables of a node and the chains it sells on. The chains are read directly and are the truth. */
export type Books = {
  sql: Sql
  chains: readonly TestChain[]
  /** What every block ever showed. */
  record: ChainRecord
}

type TransferRow = {
  id: bigint
  network: string
  transaction: string
  position: number
  sender: string
  recipient: string
  micro: bigint
  nonce: string | null
  postedAs: string | null
  postedFor: string | null
  final: boolean
  missing: boolean
  postedMicro: bigint
}

type Own = { network: string; address: string; openingMicro: bigint }

const chainIdOf = (network: string) => Number(network.split(':')[1])
const keyOf = (row: TransferRow) => transferKey(chainIdOf(row.network), row.transaction, row.position)

/** What must hold at any moment, whatever is under way. */
export async function checkTransfers(books: Books): Promise<void> {
  await scanTransfers(books.chains, books.record)
  const rows = await readRows(books.sql)
  const own = await readOwn(books.sql)
  for (const row of rows) {
    if (row.postedAs !== 'dust') checkShown(row, books.record.transfers.get(keyOf(row)))
    checkPosted(row, own)
  }
  await checkPaid(books.sql)
  await checkCredited(books.sql, own, [...books.record.transfers.values()])
  const open = await networksOfOpen(books.sql)
  for (const chain of books.chains) if (open.has(`eip155:${chain.chainId}`)) await checkTerminal(books.sql, chain)
}

/** What must hold besides, once nothing is under way: every transfer in a final block is posted, and nothing else is. */
export async function checkTransfersWhenIdle(books: Books): Promise<void> {
  await checkTransfers(books)
  const rows = await readRows(books.sql)
  const own = await readOwn(books.sql)
  for (const row of rows) {
    const name = `${row.transaction} at ${row.position}`
    if (row.final && (row.postedAs === null || row.missing))
      throw new Violation('I14', `${name} is final and posted as nothing`)
    if (!row.final && row.postedAs !== null)
      throw new Violation('I13', `${name} is posted as ${row.postedAs} and is in no final block`)
  }
  for (const chain of books.chains) {
    const final = await readTransfers(chain, await blockNumber(chain, 'finalized'))
    checkEachPosted(chain, rows, own, final)
    await checkCredited(books.sql, own, final, chain)
    await checkPayoutsSent(books.sql, chain, final)
    await checkWallets(books.sql, chain)
  }
}

/** A row says what a block showed: parties, amount and nonce come from the chain and never from a quote. */
function checkShown(row: TransferRow, shown: Transfer | undefined): void {
  const same =
    shown &&
    shown.from === row.sender &&
    shown.to === row.recipient &&
    shown.micro === row.micro &&
    (shown.nonce ?? null) === row.nonce
  if (!same)
    throw new Violation(
      'I14',
      `${row.transaction} at ${row.position} is recorded with ${row.micro} and no block ever showed that`,
    )
}

/** Its postings move exactly its amount once, or nothing when it is not posted. */
function checkPosted(row: TransferRow, own: readonly Own[]): void {
  const isOurs = (address: string) => own.some((one) => one.network === row.network && one.address === address)
  const moved = (isOurs(row.recipient) ? row.micro : 0n) - (isOurs(row.sender) ? row.micro : 0n)
  const expected = row.postedAs === null ? 0n : moved
  if (row.postedMicro !== expected)
    throw new Violation(
      'I14',
      `${row.transaction} at ${row.position} moved ${expected} and is posted with ${row.postedMicro}`,
    )
}

/** A payment that has money has exactly the transfer that it claimed; another use of its nonce pays no claim. */
async function checkPaid(sql: Sql): Promise<void> {
  const { rows } = await sql.query<{ wrong: string }>(
    `select p.id || ' is ' || p.state || ' and has ' || count(t.id) || ' transfers' as wrong
     from payment p left join transfer t on t.posted_for = p.id and t.posted_as = 'payment'
       and t.network = p.network and t.sender = p.payer and t.recipient = p.pay_to and t.amount_micro = p.amount_micro and t.payment_key = p.payment_key
     group by p.id, p.state
     having count(t.id) <> case when p.state in ('settled','served','credited','refunded') then 1 else 0 end
     union all
     select moved || ' moved money that no transfer explains' from (
       select encode(t.transaction, 'hex') as moved from transfer t left join payment p on p.id = t.posted_for where t.posted_as = 'payment' and p.id is null
       union all select t.reference from ledger_transaction t where t.transfer_id is null and t.kind <> 'opening'
         and t.id in (select transaction_id from ledger_entry
           where account_id = any (array(select id from ledger_account where is_wallet)))) f`,
  )
  if (rows[0]) throw new Violation('I14', rows[0].wrong)
}

/** Sales, credit and refunds of a payer together are never more than what it sent us. */
async function checkCredited(
  sql: Sql,
  own: readonly Own[],
  shown: readonly Transfer[],
  only?: TestChain,
): Promise<void> {
  const { rows } = await sql.query<{ network: string; payer: string; micro: bigint }>(
    `select network, payer, sum(micro)::bigint as micro from (
       select network, payer, amount_micro as micro from payment where state in ('settled','served','credited','refunded')
       union all
       select split_part(a.name, '@', 2), substring(a.name from '0x[0-9a-f]{40}'), -e.amount_micro from ledger_transaction t
         join ledger_entry e on e.transaction_id = t.id join ledger_account a on a.id = e.account_id
       where t.kind = 'credit' and t.payment_id is null and not a.is_wallet) given
     group by network, payer`,
  )
  for (const { network, payer, micro } of rows) {
    if (only && chainIdOf(network) !== only.chainId) continue
    const arrived = shown
      .filter(
        ({ chainId, from, to }) =>
          chainId === chainIdOf(network) &&
          from === payer &&
          own.some((one) => one.network === network && one.address === to),
      )
      .reduce((sum, one) => sum + one.micro, 0n)
    if (micro > arrived) throw new Violation('I13', `${payer} was given ${micro} on ${network} and sent ${arrived}`)
  }
}

/** Rule: every payment is terminal at most ten minutes after the first final block later than its `validBefore`. */
const terminalWithinSeconds = 600

async function networksOfOpen(sql: Sql): Promise<ReadonlySet<string>> {
  const { rows } = await sql.query<{ network: string }>(
    `select distinct network from payment where state in ('claimed','settling','unknown','settled')`,
  )
  return new Set(rows.map(({ network }) => network))
}

export async function checkTerminal(
  sql: Sql,
  chain: TestChain,
  withinSeconds: number = terminalWithinSeconds,
): Promise<void> {
  const { rows } = await sql.query<{ id: string; state: string; validBefore: bigint }>(
    `select id, state, valid_before as "validBefore" from payment
     where network = $1 and state in ('claimed','settling','unknown','settled') order by valid_before`,
    [`eip155:${chain.chainId}`],
  )
  if (rows.length === 0) return
  const timeOf = async (number: number) => {
    const block = await chain.request('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])
    return Number((block as { timestamp: string }).timestamp)
  }
  const head = await blockNumber(chain, 'latest')
  const now = await timeOf(head)
  if (!rows.some(({ validBefore }) => validBefore < BigInt(now - withinSeconds))) return
  const final = await blockNumber(chain, 'finalized')
  // The last block that was final ten minutes before the head: whatever ended before it must be terminal.
  let settled = final
  while (settled > 0 && now - (await timeOf(Math.min(head, settled + head - final))) <= withinSeconds) settled -= 1
  const until = await timeOf(settled)
  const late = settled > 0 ? rows.find(({ validBefore }) => validBefore < BigInt(until)) : undefined
  if (late) throw new Violation('I15', `${late.id} is still ${late.state} long after it expired`)
}

/** Each transfer in a final block has one row; what no row explains was there when the books were opened. */
function checkEachPosted(
  chain: TestChain,
  rows: readonly TransferRow[],
  own: readonly Own[],
  final: readonly Transfer[],
): void {
  const network = `eip155:${chain.chainId}`
  const here = rows.filter((row) => row.network === network)
  const known = new Set(here.map(keyOf))
  const dust = here.filter(({ postedAs }) => postedAs === 'dust').map(dustRange)
  for (const { address, openingMicro } of own.filter((one) => one.network === network)) {
    let unexplained = 0n
    const found = new Map(dust.map((range) => [range, { micro: 0n, count: 0 }]))
    for (const transfer of final) {
      if (transfer.to !== address && transfer.from !== address) continue
      if (known.has(transferKey(chain.chainId, transfer.transaction, transfer.position))) continue
      const moved = (transfer.to === address ? transfer.micro : 0n) - (transfer.from === address ? transfer.micro : 0n)
      const range = dust.find(
        ({ address: to, from, upTo }) =>
          to === address && moved > 0n && transfer.blockNumber >= from && transfer.blockNumber <= upTo,
      )
      const sum = range && found.get(range)
      if (sum) {
        sum.micro += moved
        sum.count += 1
      } else unexplained += moved
    }
    if (unexplained !== openingMicro)
      throw new Violation('I14', `${unexplained - openingMicro} at ${address} on ${network} is in no row`)
    for (const [range, { micro, count }] of found)
      if (range.address === address && (micro !== range.micro || count !== range.count))
        throw new Violation('I14', `dust of ${count} transfers and ${micro} is posted as ${range.micro}`)
  }
}

/** The reference of its posting says which blocks it sums up. */
function dustRange({ transaction, micro, postedFor }: TransferRow) {
  const [address = '', blocks = ''] = transaction.split(':').slice(-2)
  const [from = 0, upTo = 0] = blocks.split('-').map(Number)
  return { address, from, upTo, micro, count: Number(postedFor) }
}

/** Payouts that were sent are payouts that were posted, one transfer each. */
async function checkPayoutsSent(sql: Sql, chain: TestChain, final: readonly Transfer[]): Promise<void> {
  const network = `eip155:${chain.chainId}`
  const { rows } = await sql.query<{ id: string; payee: string; micro: bigint; transaction: string }>(
    `select id, payee, amount_micro as micro, transaction from payout where network = $1 and state = 'paid'`,
    [network],
  )
  const { rows: custody } = await sql.query<{ address: string }>(
    `select address from own_address where network = $1 and payee = 'custody'`,
    [network],
  )
  const left = final.filter(({ from }) => custody.some(({ address }) => address === from))
  for (const payout of rows) {
    const index = left.findIndex(
      ({ transaction, to, micro }) =>
        transaction === payout.transaction && to === payout.payee && micro === payout.micro,
    )
    if (index < 0) throw new Violation('I8', `${payout.id} is called paid and no transfer shows it`)
    left.splice(index, 1)
  }
}

/** What the books say is at our addresses is there in the newest final block, to the micro. */
export async function checkWallets(sql: Sql, chain: TestChain): Promise<void> {
  const network = `eip155:${chain.chainId}`
  for (const payee of ['pay_to', 'custody']) {
    const { rows } = await sql.query<{ posted: bigint; addresses: string[] }>(
      `select (select coalesce(sum(e.amount_micro), 0)::bigint from ledger_entry e join ledger_account a on a.id = e.account_id
          where a.name = $1) as posted,
         array(select distinct address from own_address where network = $2 and payee = $3) as addresses`,
      [`onchain:${payee}@${network}`, network, payee],
    )
    const { posted = 0n, addresses = [] } = rows[0] ?? {}
    let there = 0n
    for (const address of addresses) there += await tokenBalance(chain, address, 'finalized')
    if (posted !== there) throw new Violation('I9', `${payee} on ${network} holds ${there}, the books say ${posted}`)
  }
}

async function readRows(sql: Sql): Promise<TransferRow[]> {
  const { rows } = await sql.query<TransferRow>(
    `select t.id, t.network, t.position,
       case t.posted_as when 'dust' then (select l.reference from ledger_transaction l where l.transfer_id = t.id)
         else '0x' || encode(t.transaction, 'hex') end as transaction, t.sender, t.recipient, t.amount_micro as micro,
       '0x' || encode(t.payment_key, 'hex') as nonce, t.posted_as as "postedAs", t.posted_for as "postedFor", t.final, t.missing,
       coalesce((select sum(e.amount_micro) from ledger_transaction l join ledger_entry e on e.transaction_id = l.id
         join ledger_account a on a.id = e.account_id where l.transfer_id = t.id and a.is_wallet), 0)::bigint as "postedMicro"
     from transfer t`,
  )
  return rows
}

async function readOwn(sql: Sql): Promise<Own[]> {
  const { rows } = await sql.query<Own>(
    `select distinct o.network, o.address, coalesce(c.onchain_micro, 0)::bigint as "openingMicro" from own_address o
     left join reconcile_cursor c on c.network = o.network and c.address = o.address`,
  )
  return rows
}
