import { leafHash } from '../../../packages/node/src/tlog/tree-hash.ts'
import { firstIdAt } from '../../../packages/till/src/kernel/ids.ts'

/** A past to be written: sales from `fromMs` to `untilMs`. */
export type Past = {
  /** Number of the first sale; numbers are never used twice. */
  first: number
  sales: number
  wallets: number
  fromMs: number
  untilMs: number
  /** When each of them was made, by its place among them: later ones have higher places. */
  timeOf(place: number): number
  /** Answers of earlier sales are gone. */
  answersFromMs: number
  network: string
  payTo: string
  /** Has a tenth of all sales: what is read of one wallet must not grow either. */
  heavy: string
  /** Ids of the accounts of the books. */
  accountIds: { payTo: bigint; custody: bigint; revenue: bigint }
}

/** Shares of wallets get numbers above those that the database gives out. */
export const firstShareId = 1_000_000_000
export const heavyDomain = 'heavy.example'
export const saleMicro = 5_000
export const shareMicro = 700
export const routeId = 'sandbox.echo.get'

const assetOf = (network: string) => `${network}/erc20:0x${'a5'.repeat(20)}`
const hex = (value: number, length: number) => value.toString(16).padStart(length, '0')
/** Neighbours get keys that are far apart, as hashes are. */
const mixed = (n: number) => Math.imul(n, 2_654_435_761) >>> 0
const keyOf = (n: number) => `${hex(mixed(n), 8)}${'0'.repeat(46)}${hex(n, 10)}`
const row = (...fields: (string | number | bigint)[]) => `${fields.join('\t')}\n`
const none = '\\N'
const bytes = (text: string) => `\\\\x${text}`

export const walletOf = ({ heavy }: Pick<Past, 'heavy'>, k: number): string =>
  k === 0 ? heavy : `0x${hex(mixed(k), 8)}${'0'.repeat(24)}${hex(k, 8)}`

const buyerOf = ({ wallets }: Past, n: number) => (n % 10 === 0 ? 0 : 1 + ((n * 7_919) % Math.max(1, wallets - 1)))
const domainOf = (n: number) => (n % 20 === 1 ? heavyDomain : `site${n % 10_007}.example`)
export const idOf = (prefix: string, atMs: number, n: number): string =>
  `${firstIdAt(prefix, atMs)}${String(n).padStart(17, '0')}`
/** Every second sale stamped a citation. */
const isStamp = (n: number) => n % 2 === 1

type Sale = { n: number; k: number; atMs: number; at: string; id: string; stampId: string; payer: string; key: string }

const salesOf = (past: Past): Sale[] =>
  Array.from({ length: past.sales }, (_, place) => {
    const n = past.first + place
    const atMs = Math.floor(past.timeOf(place))
    const k = buyerOf(past, n)
    const id = idOf('pay', atMs, n)
    const at = new Date(atMs).toISOString()
    return { n, k, atMs, at, id, stampId: id.replace('pay', 'att'), payer: walletOf(past, k), key: keyOf(n) }
  })

const transactionId = ({ atMs, n }: Sale) => (BigInt(Math.floor(atMs / 1_000)) << 31n) | BigInt(n)

const paymentRow = ({ network, payTo }: Past, { at, id, payer, key, n }: Sale) =>
  row(
    ...[id, 'served', network, assetOf(network), payer, 'exact', bytes(key), payTo, 'pay_to', saleMicro, saleMicro],
    ...[1, routeId, `https://node.example/v1/sandbox/echo?message=${n}`, bytes(key), 'f', isStamp(n) ? 't' : 'f', 1],
    ...[at, at, 1, bytes(key), 1, bytes(key), 0, 't', at, at, at, at, bytes(key)],
  )

const recordOf = (sale: Sale) =>
  JSON.stringify({
    type: 'assay.citation/v1',
    ...{ id: sale.stampId, agent: sale.payer, payment: sale.id, at: sale.at },
    source: { url: `https://${domainOf(sale.n)}/page/${sale.n}`, content_sha256: sale.key, text_sha256: sale.key },
    quote: { found: true, sha256: sale.key, text: `${sale.key}${sale.key}${sale.key}` },
    licence: 'https://creativecommons.org/licenses/by/4.0/',
  })

/** Who signed all stamps. */
export const attester = 'a7'.repeat(32)

const attestationRow = (past: Past, sale: Sale) => {
  const domain = domainOf(sale.n)
  const creator = walletOf(past, sale.n % past.wallets)
  return row(
    ...[sale.stampId, 'citation', sale.id, past.network, sale.payer, sale.payer],
    ...[`https://${domain}/page/${sale.n}`, domain, domain, creator],
    ...[bytes(`${sale.key}${sale.key}1b`), bytes(attester), saleMicro, 't'],
    ...[sale.at, sale.at, sale.at],
  )
}

/** The record of a citation is a leaf of the log; the node itself gives it its place. */
const leafRow = (sale: Sale) => {
  const entry = Buffer.from(recordOf(sale))
  return row(
    ...['citation', sale.stampId, bytes(entry.toString('hex'))],
    ...[bytes(leafHash(entry).toString('hex')), sale.at],
  )
}

const accrualRow = (past: Past, sale: Sale) => {
  const domain = domainOf(sale.n)
  return row(
    ...[sale.stampId, sale.id, 'payment', sale.payer, past.network, domain, domain],
    ...[walletOf(past, sale.n % past.wallets), sale.n % 16, shareMicro, 'committed', 1, sale.at, sale.at],
  )
}

const entryRows = ({ accountIds, wallets }: Past, sale: Sale) => {
  const id = transactionId(sale)
  const share = firstShareId + (sale.n % wallets)
  const lines = [
    [accountIds.payTo, saleMicro],
    [accountIds.revenue, shareMicro - saleMicro],
    [share, -shareMicro],
    [share, shareMicro],
    [accountIds.custody, -shareMicro],
  ] as const
  return lines.map(([account, micro], line) => row(id, line, account, micro)).join('')
}

const answerBody = Buffer.from(JSON.stringify({ echo: 'x'.repeat(1_000) })).toString('hex')

/** Each table with its columns and rows, in the order in which they are written. */
export function tablesOf(past: Past): [target: string, rows: Iterable<string>][] {
  const { network, payTo, answersFromMs } = past
  const sales = salesOf(past)
  const each = function* (make: (sale: Sale) => string) {
    for (const sale of sales) yield make(sale)
  }
  const stamps = function* (make: (sale: Sale) => string) {
    for (const sale of sales) if (isStamp(sale.n)) yield make(sale)
  }
  return [
    [
      'claim (payer, network, payment_key, payment_id)',
      each(({ payer, key, id }) => row(payer, network, bytes(key), id)),
    ],
    [
      `payment (id, state, network, asset, payer, scheme, payment_key, pay_to, payee, quoted_micro, amount_micro, valid_before,
        route_id, resource, fingerprint, revocable, had_effect, owner, lease_until, claimed_at, head_block, transaction,
        block_number, block_hash, log_position, final, intent_at, settled_at, ended_at, delivered_at, signed_digest)`,
      each((sale) => paymentRow(past, sale)),
    ],
    [
      'payment_answer (payment_id, payer, status, content_type, body)',
      each(({ id, payer, atMs }) =>
        atMs < answersFromMs ? '' : row(id, payer, 200, 'application/json', bytes(answerBody)),
      ),
    ],
    [
      `transfer (network, asset, transaction, position, sender, recipient, amount_micro, payment_key, block_number, block_hash,
        posted_as, posted_for, posted_at, turn, final, seen_at)`,
      each(({ payer, key, id, at }) =>
        row(
          ...[network, assetOf(network), bytes(key), 0, payer, payTo, saleMicro, bytes(key), 1, bytes(key)],
          ...['payment', id, at, 1, 't', at],
        ),
      ),
    ],
    [
      'ledger_transaction (id, reference, kind, payment_id, created_at, xid)',
      each((sale) => row(transactionId(sale), `sale:${sale.id}`, 'sale', sale.id, sale.at, 3)),
    ],
    ['ledger_entry (transaction_id, line, account_id, amount_micro)', each((sale) => entryRows(past, sale))],
    ['ledger_unsealed (transaction_id)', each((sale) => row(transactionId(sale)))],
    [
      `reward_sale (payment_id, payer, network, route_id, take_micro, points, affiliate, affiliate_micro, affiliate_bps,
        affiliate_state, matures_at, sold_at)`,
      each(({ id, payer, at, n }) =>
        row(
          ...[id, payer, network, routeId, saleMicro - shareMicro, 5],
          ...(n % 10 === 3 ? [walletOf(past, 0), 50, 100, 'payable', at] : [none, 0, 0, 'none', none]),
          at,
        ),
      ),
    ],
    [
      `attestation (id, kind, payment_id, network, agent, payer, source_url, domain, registrable, creator,
        signature, attester, price_micro, quote_found, created_at, aggregated_at, checked_at)`,
      stamps((sale) => attestationRow(past, sale)),
    ],
    ['log_entry (kind, subject, entry, leaf_hash, created_at)', stamps(leafRow)],
    [
      `creator_accrual (subject, payment_id, source, payer, network, domain, registrable, wallet, shard, micro, state, root_id,
        created_at, released_at)`,
      stamps((sale) => accrualRow(past, sale)),
    ],
  ]
}

/** What there is once for each wallet. */
export function walletTables(past: Past, from: number, until: number): [target: string, rows: Iterable<string>][] {
  const { network } = past
  const at = new Date(past.fromMs).toISOString()
  const wallets = function* (make: (wallet: string, k: number) => string) {
    for (let k = from; k < until; k += 1) yield make(walletOf(past, k), k)
  }
  return [
    [
      'ledger_account (id, name, kind, unit, guarded)',
      wallets((wallet, k) =>
        row(firstShareId + k, `payable:refund:${wallet}@${network}`, 'liability', `${network}/usdc`, 't'),
      ),
    ],
    [
      'ledger_balance (account_id, owed_micro, version, is_payable)',
      wallets((_, k) => row(firstShareId + k, 0, 2, 't')),
    ],
    ['loyalty (wallet, spent_micro, sales, first_sale_at)', wallets((wallet) => row(wallet, 10 * saleMicro, 10, at))],
    [
      `agent_rating (wallet, network, settled, settled_micro, failed, reversed, refunded, unattributed, self_dealt, active_days,
        last_day, first_at, last_at, counts_since)`,
      wallets((wallet) => row(wallet, network, 10, 10 * saleMicro, 0, 0, 0, 0, 0, 5, at.slice(0, 10), at, at, at)),
    ],
  ]
}
