import { toHex } from '../../packages/protocol/src/bytes.ts'
import { channelContract } from '../../packages/protocol/src/typed-data/channel.ts'
import { accounts, balanceOf } from '../../packages/till/src/ledger/index.ts'
import { Violation } from '../harness/violation.ts'
import type { Scene } from './buyers.ts'

type Row = { network: string; id: Buffer; charged: bigint; sold: bigint; open: bigint }

/** What was charged is what was sold, and nobody claims more than that. */
export async function checkChannels(scene: Scene): Promise<void> {
  const { world, history } = scene
  const sql = world.db.owner
  const { rows: effects } = await sql.query<{ order_id: string }>(
    `select order_id from simulated_effect where order_id like 'c-%' and not revoked`,
  )
  const done = new Set(effects.map(({ order_id }) => order_id))
  const free = history.channels.calls.find(({ id, body }) => body !== undefined && !done.has(id))
  if (free) throw new Violation('promise 4', `${free.id} was answered and not sold`)
  const { rows } = await sql.query<Row>(
    `select network, id, charged_micro as charged, charged_micro - posted_micro - lost_micro as open,
       (select coalesce(sum(charge_micro), 0)::bigint from channel_sale s where s.network = c.network and s.channel_id = c.id) as sold
     from channel c`,
  )
  for (const row of rows) {
    const name = toHex(row.id)
    if (row.charged !== row.sold) throw new Violation('I6', `${name} was charged ${row.charged} for ${row.sold}`)
    const claimed = await claimedOnChain(scene, row)
    if (claimed > row.charged) throw new Violation('I13', `${claimed} was claimed of ${name}, charged ${row.charged}`)
  }
  for (const network of new Set(rows.map((row) => row.network))) {
    const open = rows.filter((row) => row.network === network).reduce((sum, row) => sum + row.open, 0n)
    const vouchers = await balanceOf(sql, accounts.channelVouchers(network))
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
