import type { Log } from '@assay/till/kernel/log'
import type { Sql } from '@assay/till/store/database'
import { DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import type { Carrier } from './carrier.ts'
import { eventsAfter, type IntentEvent } from './store.ts'
import { eventId } from './tick-event.ts'

export type NatsOptions = {
  url: string
  /** Tells deployments apart that share a server: letters, digits, - and _. */
  instance: string
  database: Sql
  log: Log
}

const pageSize = 200
const keptNanos = 24 * 3_600 * 1_000_000_000
const duplicateNanos = 600 * 1_000_000_000

/**
 * Several machines: JetStream brings the events themselves, so that their readers cost the database nothing. What was
 * passed on is written down; a process that dies in between leaves the rest to the next, and repeats are recognized by their id.
 */
export async function openNatsCarrier({ url, instance, database, log }: NatsOptions): Promise<Carrier> {
  const stream = `ASSAY_INTENTS_${instance}`
  const subject = `assay.intents.${instance}`
  const { username, password, host } = new URL(url)
  const connection = await connect({
    servers: url,
    // The library reads host and port of a URL, and nothing else.
    ...(username === '' ? {} : { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
    name: 'assay',
    maxReconnectAttempts: -1,
    reconnectTimeWait: 500,
  }).catch((error: unknown) => {
    throw new Error(`NATS_URL: no server answers at ${host}: ${String(error)}`)
  })
  const client = jetstream(connection)
  const manager = await jetstreamManager(connection)
  const config = { name: stream, subjects: [subject], max_age: keptNanos, duplicate_window: duplicateNanos }
  await manager.streams.add(config).catch(async () => manager.streams.update(stream, config))

  return {
    name: 'nats',
    announce: async () => {
      for (;;) {
        const { rows } = await database.query<{ seq: bigint }>(
          `insert into intent_announced (carrier, seq) values ($1, (select coalesce(max(seq), 0) from intent_event))
           on conflict (carrier) do update set seq = intent_announced.seq returning seq`,
          [stream],
        )
        const events = await eventsAfter(database, Number(rows[0]?.seq ?? 0), pageSize)
        const last = events.at(-1)
        if (!last) return
        for (const event of events) await client.publish(subject, JSON.stringify(event), { msgID: eventId(event.seq) })
        await database.query('update intent_announced set seq = $2 where carrier = $1 and seq < $2', [stream, last.seq])
      }
    },
    follow: async (onNews) => {
      const consumer = await client.consumers.get(stream, { deliver_policy: DeliverPolicy.New })
      const messages = await consumer.consume()
      const reading = (async () => {
        for await (const message of messages) onNews(parseEvents(message.string()))
      })().catch((error: unknown) => log.warn({ error: String(error) }, 'the message broker was lost'))
      const watching = (async () => {
        // What was said while the connection was broken is read from the database.
        for await (const status of connection.status()) if (status.type === 'reconnect') onNews()
      })()
      return async () => {
        await messages.close()
        await connection.close()
        await Promise.all([reading, watching])
      }
    },
    stop: () => connection.close(),
  }
}

/** A message that cannot be read still says that there is news. */
function parseEvents(text: string): IntentEvent[] | undefined {
  try {
    const event = JSON.parse(text) as IntentEvent
    return Number.isSafeInteger(event.seq) && typeof event.event === 'string' ? [event] : undefined
  } catch {
    return undefined
  }
}
