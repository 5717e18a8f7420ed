import { toHex } from '../../packages/protocol/src/bytes.ts'
import { channelContract } from '../../packages/protocol/src/typed-data/channel.ts'
import { channelAccounts } from '../../packages/till/src/schemes/batch-settlement/accounts.ts'
import { Violation } from '../harness/violation.ts'
import type { Scene } from './buyers.ts'

type Row = { network: string; id: Buffer; charged: bigint; sold: bigint; open: bigint; vouchers: bigint }

/** What was charged is what was sold, and nobody claims more than that. */
export async function checkChannels(scene: Scene): Promise<void> {
  const { world, history } = scene
  const sql = world.db.owner
  const networks = world.shown.map(({ chainId }) => `eip155:${chainId}`)
  const { rows: effects } = await sql.query<{ order_id: string }>(
    `select order_id from simulated_effect where order_id like 'c-%' and not revoked`,
  )
  const done = new Set(effects.map(({ order_id }) => order_id))
  const free = history.channels.calls.find(({ id, body }) => body !== undefined && !done.has(id))
  if (free) throw new Violation('promise 4', `${free.id} was answered and not sold`)
  // In one statement: a job may post a claim between two.
  const { rows } = await sql.query<Row>(
    `select n.network, c.id, charged_micro as charged, charged_micro - posted_micro - lost_micro as open,
       (select coalesce(sum(charge_micro), 0)::bigint from channel_sale s where s.network = c.network and s.channel_id = c.id) as sold,
       coalesce((select ledger_sum(a.id) from ledger_account a where a.name = n.account), 0)::bigint as vouchers
     from unnest($1::text[], $2::text[]) n (network, account) join channel c on c.network = n.network`,
    [networks, networks.map((network) => channelAccounts.vouchers(network).name)],
  )
  for (const row of rows) {
    const name = toHex(row.id)
    if (row.charged !== row.sold) throw new Violation('I6', `${name} was charged ${row.charged} for ${row.sold}`)
    const claimed = await claimedOnChain(scene, row)
    if (claimed > row.charged) throw new Violation('I13', `${claimed} was claimed of ${name}, charged ${row.charged}`)
  }
  for (const network of new Set(rows.map((row) => row.network))) {
    const own = rows.filter((row) => row.network === network)
    const open = own.reduce((sum, row) => sum + row.open, 0n)
    const vouchers = own[0]?.vouchers ?? 0n
    if (vouchers !== open) throw new Violation('I9', `vouchers for ${open} are in the books as ${vouchers}`)
  }
}

const shownOn = ({ shown }: Scene['world'], network: string) =>
  shown.find(({ chainId }) => network === `eip155:${chainId}`)

/** channels(id) of the contract. */
async function claimedOnChain({ world }: Scene, { network, id }: Row): Promise<bigint> {
  const data = `0x7a7ebd7b${id.toString('hex')}`
  const words = (await shownOn(world, network)?.request('eth_call', [
    { to: channelContract, data },
    'latest',
  ])) as string
  return BigInt(`0x${words.slice(66, 130)}`)
}
