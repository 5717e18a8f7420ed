import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import { channelContract } from '@assay/protocol/typed-data/channel'
import type { ChainPort, ClaimedBalance } from '../../chain/index.ts'
import { fromHex } from '../../kernel/bytes.ts'
import { accounts, balanceOf, type LedgerLine, post, type TransferRow } from '../../ledger/index.ts'
import { channelAccounts } from './accounts.ts'
import { type ChannelChain, type ChannelDeps, chainOf, headOf } from './channel-deps.ts'
import { type ChannelRecord, channelColumns, toChannelRecord } from './channel-record.ts'
import { saveState, usedNetworks } from './channel-store.ts'

const perRunMax = 1_000
const perReadMax = 100

const claimedBalance = async ({ channels }: ChainPort, id: Hex, at: bigint): Promise<ClaimedBalance> =>
  (await channels.claimedBalances([id], at))[0] as ClaimedBalance

/** What is in a channel is not ours before its claim is final. Posts what is, and what is gone. */
export async function postClaims(deps: ChannelDeps, network: string, on: ChannelChain): Promise<void> {
  const { rows } = await deps.database.query(
    `select ${channelColumns} from channel where network = $1 and (charged_micro > posted_micro + lost_micro or lost_micro > 0)
     order by unclaimed_since nulls first limit ${perRunMax}`,
    [network],
  )
  if (rows.length === 0) return
  const [final, head] = [await on.chain.finalizedBlock(), await headOf(on)]
  for (let done = 0; done < rows.length; done += perReadMax) {
    const records = rows.slice(done, done + perReadMax).map(toChannelRecord)
    const atFinal = await on.chain.channels.claimedBalances(
      records.map(({ id }) => id),
      final.number,
    )
    for (const [index, record] of records.entries())
      await postChannel(deps, on, record, atFinal[index] as ClaimedBalance, head)
  }
}

async function postChannel(
  deps: ChannelDeps,
  { chain }: ChannelChain,
  record: ChannelRecord,
  atFinal: ClaimedBalance,
  head: bigint,
): Promise<void> {
  const { network, id, chargedMicro, postedMicro, lostMicro } = record
  const isShort = atFinal.balanceMicro < chargedMicro
  const isPending = record.claimedMicro > atFinal.claimedMicro
  // A deposit or a claim may be younger than the final block.
  const atHead = isShort || isPending ? await claimedBalance(chain, id, head) : atFinal
  const claimed = atFinal.claimedMicro > postedMicro ? atFinal.claimedMicro : postedMicro
  const held = atHead.balanceMicro > atFinal.balanceMicro ? atHead.balanceMicro : atFinal.balanceMicro
  const lost = held < chargedMicro ? chargedMicro - held : 0n
  // A reorganisation took a deposit: nothing is sold by what is not there.
  if (isShort && atHead.balanceMicro < record.balanceMicro) {
    await saveState(deps.database, record, await chain.channels.state(id, head))
    deps.cache.evict(record)
  }
  if (isPending && record.claimedMicro > atHead.claimedMicro) await claimAgain(deps, record, atHead.claimedMicro, head)
  if (claimed === postedMicro && lost === lostMicro) return
  // Claimed beyond what the books know of: sales that a restore has lost.
  const unknown = claimed > chargedMicro ? claimed - chargedMicro : 0n
  await deps.database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `update channel set posted_micro = $3, lost_micro = $4, charged_micro = charged_micro + $7,
         claimed_micro = greatest(claimed_micro, $3), signed_micro = greatest(signed_micro, charged_micro + $7),
         signature = case when signed_micro < charged_micro + $7 then null else signature end
       where network = $1 and id = $2 and posted_micro = $5 and lost_micro = $6 and ($7 = 0 or charged_micro = $8)`,
      [network, fromHex(id), claimed, lost, postedMicro, lostMicro, unknown, chargedMicro],
    )
    if (rowCount === 0) return
    const name = `${network}:${id}:${deps.clock.nowMs()}`
    await post(tx, [
      ...movement(`channel_gap:${name}`, 'restore_gap', unknown, [
        channelAccounts.vouchers(network),
        accounts.restoreGap(network, 'pay_to'),
      ]),
      ...movement(`channel_claimed:${name}`, 'channel_claimed', claimed - postedMicro, [
        channelAccounts.claimed(network),
        channelAccounts.vouchers(network),
      ]),
      ...movement(`channel_loss:${name}`, 'channel_loss', lost - lostMicro, [
        channelAccounts.loss(network),
        channelAccounts.vouchers(network),
      ]),
    ])
  })
  if (lost > lostMicro) {
    deps.metrics.count('alarms', { alarm: 'channel_loss' })
    deps.log.error({ network, channel: id, micro: (lost - lostMicro).toString() }, 'vouchers were not claimed in time')
  }
}

/** A reorganisation took the claim: it is due again at once. Not while it may only be younger than the block that was read. */
async function claimAgain(deps: ChannelDeps, record: ChannelRecord, claimedMicro: Micro, head: bigint): Promise<void> {
  const { network, id } = record
  const { rowCount } = await deps.database.query(
    `update channel set claimed_micro = $3, unclaimed_since = 'epoch'
     where network = $1 and id = $2 and claimed_micro = $4 and not exists (
       select from settlement_transaction t where t.network = $1 and t.purpose in ('channels.claim', 'channels.refund')
         and (t.state in ('signed', 'broadcast') or t.block_number > $5))`,
    [network, fromHex(id), claimedMicro, record.claimedMicro, head],
  )
  if (rowCount === 0) return
  deps.cache.evict(record)
  deps.log.warn({ network, channel: id }, 'a claim is not on the chain any more; it is made again')
}

function movement(
  reference: string,
  kind: string,
  micro: Micro,
  [debited, credited]: [LedgerLine['account'], LedgerLine['account']],
) {
  if (micro === 0n) return []
  const lines = [
    { account: debited, amount: micro },
    { account: credited, amount: -micro },
  ]
  return [{ reference, kind, lines }]
}

/** More was claimed than the books know of, as after a restore: it is what the channel was charged, for sales that are lost. */
export async function adoptClaims(deps: ChannelDeps, record: ChannelRecord): Promise<boolean> {
  const { network, id, chargedMicro } = record
  const on = chainOf(deps, network)
  const { claimedMicro } = await claimedBalance(on.chain, id, await headOf(on))
  if (claimedMicro <= chargedMicro) return false
  await deps.database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `update channel set charged_micro = $3, claimed_micro = $3, signed_micro = greatest(signed_micro, $3),
         signature = case when signed_micro < $3 then null else signature end
       where network = $1 and id = $2 and charged_micro = $4`,
      [network, fromHex(id), claimedMicro, chargedMicro],
    )
    if (rowCount === 0) return
    await post(
      tx,
      movement(`channel_gap:${network}:${id}:${claimedMicro}`, 'restore_gap', claimedMicro - chargedMicro, [
        channelAccounts.vouchers(network),
        accounts.restoreGap(network, 'pay_to'),
      ]),
    )
  })
  deps.cache.evict(record)
  return true
}

/** The other side of a transfer that the contract sent to us, by anyone's call. */
export async function settledAccount(deps: ChannelDeps, row: TransferRow) {
  if (row.sender !== channelContract || !deps.chains.has(row.network)) return undefined
  const { chain } = chainOf(deps, row.network)
  const amounts = await chain.channels.settledIn(row.transaction, row.recipient)
  return amounts.includes(row.amountMicro) ? channelAccounts.claimed(row.network) : undefined
}

/** Differences of the last comparison: what moves between two reads is even again at the next one. */
const lastDifference = new WeakMap<object, Micro>()

/** What the contract owes our addresses at a final block, against the books. */
export async function compareClaimed(deps: ChannelDeps, receivers: (network: string) => readonly Address[]) {
  const used = await usedNetworks(deps.database)
  for (const [network, { chain }] of deps.chains) {
    if (!used.has(network)) continue
    const final = await chain.finalizedBlock()
    let owed = 0n
    for (const receiver of receivers(network)) {
      const { claimedMicro, settledMicro } = await chain.channels.receiver(receiver, final.number)
      owed += claimedMicro - settledMicro
    }
    const difference = owed - (await balanceOf(deps.database, channelAccounts.claimed(network)))
    deps.metrics.gauge('channels_difference_micro', Number(difference), { network })
    const isNew = lastDifference.get(chain) !== difference
    lastDifference.set(chain, difference)
    if (difference === 0n || isNew) continue
    deps.metrics.count('alarms', { alarm: 'channels_differ' })
    deps.log.error({ network, difference_micro: difference.toString() }, 'the books of channels differ from the chain')
  }
}
