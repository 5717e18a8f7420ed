import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { ChannelConfig } from '@assay/protocol/typed-data/channel'
import { ChainUnreadable, type ChannelState } from '../../chain/index.ts'
import { fromHex } from '../../kernel/bytes.ts'
import { Problem } from '../../kernel/problem.ts'
import { depositCall } from './channel-calls.ts'
import { type ChannelChain, type ChannelDeps, chainOf, channelReason, VoucherRefused } from './channel-deps.ts'
import { insertChannel, saveState } from './channel-store.ts'
import type { Deposit } from './decode-channel.ts'
import { sendCall } from './send-call.ts'

const depositGas = 300_000n

export type PlannedDeposit = {
  network: string
  id: Hex
  config: ChannelConfig
  deposit: Deposit
  nonce: Hex
  /** State in the contract, before the deposit. */
  state: ChannelState
}

const unknown = (detail: string) => new Problem('settlement_unknown', { detail, retryAfterSeconds: 5 })

/** Written down, sent, seen: a deposit whose end is not known is finished by a job, and no second one is made meanwhile. */
export async function makeDeposit(deps: ChannelDeps, planned: PlannedDeposit): Promise<Hex | undefined> {
  const { network, id, config, deposit } = planned
  const before = await insertDeposit(deps, planned)
  if (before === 'done') return undefined
  if (before === 'failed')
    throw new VoucherRefused(channelReason('deposit_transaction_failed'), 'This deposit did not take effect.')
  if (before === 'sending') throw unknown('A deposit into this channel is being processed.')
  const sent = await sendCall(deps, {
    ...{ network, data: depositCall(config, deposit), gasLimit: depositGas, purpose: 'channels.deposit' },
    ...{ reference: `deposit ${id}`, usefulUntil: Number(deposit.validBefore) },
  })
  const end = (state: 'done' | 'failed', transaction: Hex) => endDeposit(deps, planned, state, transaction)
  switch (sent.status) {
    case 'not_sent':
      await deps.database.query(`delete from channel_deposit where network = $1 and payer = $2 and nonce = $3`, [
        ...keyOf(planned),
      ])
      throw new Problem('settlement_unavailable', {
        detail: 'The deposit was not sent; nothing moved.',
        retryAfterSeconds: 3,
      })
    case 'reverted':
      await end('failed', sent.transaction)
      throw new VoucherRefused(channelReason('deposit_transaction_failed'), 'The deposit failed; nothing moved.')
    case 'unknown':
      throw unknown('The deposit is not in a block yet.')
    case 'done':
      await saveState(deps.database, { network, id }, await stateAt(deps, network, id, sent.blockNumber))
      await end('done', sent.transaction)
      deps.cache.evict({ network, id })
      return sent.transaction
  }
}

const keyOf = ({ network, config, nonce }: PlannedDeposit) => [network, config.payer, fromHex(nonce)] as const

/** `new`: it is ours to send. */
async function insertDeposit(
  { database, clock }: ChannelDeps,
  planned: PlannedDeposit,
): Promise<'new' | 'sending' | 'done' | 'failed'> {
  const { network, id, config, deposit, state } = planned
  return database.transaction(async (tx) => {
    await insertChannel(tx, { network, id }, config, state, clock.nowMs())
    const { rowCount } = await tx.query(
      `insert into channel_deposit (network, payer, nonce, channel_id, amount_micro, valid_before, state, sent_at)
       values ($1, $2, $3, $4, $5, $6, 'sending', $7) on conflict do nothing`,
      [...keyOf(planned), fromHex(id), deposit.amount, deposit.validBefore, new Date(clock.nowMs())],
    )
    if (rowCount > 0) return 'new'
    const { rows } = await tx.query<{ state: 'sending' | 'done' | 'failed' }>(
      `select state from channel_deposit where network = $1 and payer = $2 and nonce = $3`,
      [...keyOf(planned)],
    )
    // No separate row: another deposit into the channel is on its way.
    return rows[0]?.state ?? 'sending'
  })
}

async function endDeposit(
  { database, clock }: ChannelDeps,
  planned: PlannedDeposit,
  state: 'done' | 'failed',
  transaction: Hex,
): Promise<void> {
  await database.query(
    `update channel_deposit set state = $4, transaction = $5, ended_at = $6
     where network = $1 and payer = $2 and nonce = $3 and state = 'sending'`,
    [...keyOf(planned), state, transaction, new Date(clock.nowMs())],
  )
}

const pollMs = 250

/** As enough endpoints see it at a block that is new: some need a moment. */
export async function stateAt(deps: ChannelDeps, network: string, id: Hex, block: bigint): Promise<ChannelState> {
  const { chain } = chainOf(deps, network)
  const untilMs = deps.clock.monotonicMs() + deps.settleMs
  for (;;)
    try {
      return await chain.channels.state(id, block)
    } catch (error) {
      if (!(error instanceof ChainUnreadable)) throw error
      if (deps.clock.monotonicMs() >= untilMs) throw unknown('The chain could not be read.')
      await deps.clock.sleep(pollMs)
    }
}

const checkAfterMs = 2_000

/** Ends deposits whose process died, or whose transaction took long; what the chain shows is the same for all who look. */
export async function recoverDeposits(deps: ChannelDeps, network: string, { chain }: ChannelChain): Promise<void> {
  const { database, clock } = deps
  const { rows } = await database.query<{ payer: Address; nonce: Hex; id: Hex; validBefore: bigint }>(
    `select payer, '0x' || encode(nonce, 'hex') as nonce, '0x' || encode(channel_id, 'hex') as id,
       valid_before as "validBefore" from channel_deposit
     where network = $1 and state = 'sending' and sent_at < $2 order by sent_at limit 200`,
    [network, new Date(clock.nowMs() - checkAfterMs)],
  )
  for (const { payer, nonce, id, validBefore } of rows) {
    const head = await chain.head()
    const used = await chain.authorizationUsed(payer, nonce, head.number)
    const isOver = !used && (await chain.finalizedBlock()).timestamp > Number(validBefore)
    if (!used && !isOver) continue
    if (used) await saveState(database, { network, id }, await chain.channels.state(id, head.number))
    await database.query(
      `update channel_deposit set state = $4, ended_at = $5 where network = $1 and payer = $2 and nonce = $3 and state = 'sending'`,
      [network, payer, fromHex(nonce), used ? 'done' : 'failed', new Date(clock.nowMs())],
    )
    deps.cache.evict({ network, id })
  }
}
