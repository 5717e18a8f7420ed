import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { SalePart } from './compose/index.ts'
import type { Sale } from './contract/paid-call.ts'
import type { Log } from './kernel/log.ts'
import type { Metrics } from './kernel/metrics.ts'
import type { Database, Tx } from './store/database.ts'

export type SaleEvent = {
  /** Names the payment in the books. */
  paymentId: string
  /** `id` of the declaration. */
  routeId: string
  /** CAIP-2 id. */
  /** CAIP-2; for a dollar other than USDC, its CAIP-19 id. */
  network: string
  /** The wallet that paid. */
  payer: Address
  /** What was charged, in millionths of a USDC. */
  amountMicro: Micro
  /** Hash of the transaction that settled it. */
  transaction: string
}
export type RefundEvent = SaleEvent & { reason: 'refund' | 'reorg'; refundedMicro: Micro }
export type AlarmEvent = { alarm: string }
export type TillEvents = { sale: SaleEvent; refund: RefundEvent; alarm: AlarmEvent }

type Listeners = { [Name in keyof TillEvents]: Set<(event: TillEvents[Name]) => void> }

/**
 * Events after the fact, in the process that made the sale. They ride on notifications of the database, which are sent
 * when the transaction commits and never before; what must not be missed belongs into a hook of the sale.
 */
export function createEvents(channel: string, log: Log) {
  const listeners: Listeners = { sale: new Set(), refund: new Set(), alarm: new Set() }
  let listening: Promise<() => Promise<void>> | undefined

  const emit = <Name extends keyof TillEvents>(name: Name, event: TillEvents[Name]) => {
    for (const listener of listeners[name])
      try {
        listener(event)
      } catch (error) {
        log.error({ event: name, error: String(error) }, 'a listener failed')
      }
  }
  const notify = async (tx: Tx, payloads: readonly object[]) => {
    await tx.query(`select pg_notify($1, payload) from unnest($2::text[]) as payload`, [
      channel,
      payloads.map((payload) =>
        JSON.stringify(payload, (_, value) => (typeof value === 'bigint' ? `${value}n` : value)),
      ),
    ])
  }
  const part: SalePart = {
    saleHooks: [
      async (tx, sales) => {
        if (listeners.sale.size > 0)
          await notify(
            tx,
            sales.map((sale) => ({ name: 'sale', event: eventOf(sale) })),
          )
      },
    ],
    reversalHooks: [
      async (tx, sale, { reason, micro }) => {
        const event = { ...eventOf(sale), reason, refundedMicro: micro }
        if (listeners.refund.size > 0) await notify(tx, [{ name: 'refund', event }])
      },
    ],
  }
  const receive = (payload: string) => {
    const { name, event } = JSON.parse(payload, (_, value) =>
      typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
    ) as { name: 'sale' | 'refund'; event: RefundEvent }
    emit(name, event)
  }
  return {
    part,
    /** Counts as given, and tells of alarms. */
    watch: (metrics: Metrics): Metrics => ({
      ...metrics,
      count: (name, labels, by) => {
        metrics.count(name, labels, by)
        if (name === 'alarms' && labels?.['alarm'] !== undefined) emit('alarm', { alarm: labels['alarm'] })
      },
    }),
    on<Name extends keyof TillEvents>(database: Database, name: Name, listener: (event: TillEvents[Name]) => void) {
      listeners[name].add(listener)
      if (name !== 'alarm') listening ??= database.listen(channel, receive)
      listening?.catch((error: unknown) => log.error({ error: String(error) }, 'events cannot be received'))
      return () => {
        listeners[name].delete(listener)
      }
    },
    stop: async () => {
      const stop = await listening?.catch(() => undefined)
      await stop?.()
    },
  }
}

const eventOf = ({ paymentId, routeId, network, payer, amountMicro, transaction }: Sale): SaleEvent => ({
  paymentId,
  routeId,
  network,
  payer,
  amountMicro,
  transaction,
})
