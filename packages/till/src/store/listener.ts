import type pg from 'pg'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import { type ConnectionTarget, connectClient } from './connection.ts'
import type { Database } from './database.ts'

type Subscriber = { channel: string; onMessage(payload: string): void; onResync?: () => void }

export type Listener = { listen: Database['listen']; close(): Promise<void> }

const channelPattern = /^[a-z][a-z0-9_]{0,62}$/

/**
 * One connection for all channels, opened with the first. Notifications sent while it is broken are lost, which is why
 * subscribers are asked to read their state again after each reconnect.
 */
export function createListener(options: { target: ConnectionTarget; clock: Clock; log: Log }): Listener {
  const subscribers = new Set<Subscriber>()
  const stopping = new AbortController()
  let connection: Promise<pg.Client> | undefined
  let asked: Promise<unknown> = Promise.resolve()
  // The driver takes one statement at a time.
  const ask = (client: Promise<pg.Client>, text: string) => {
    const answer = asked.then(async () => (await client).query(text))
    asked = answer.catch(() => {})
    return answer
  }

  const deliver = (message: pg.Notification) => {
    for (const subscriber of subscribers) {
      if (subscriber.channel === message.channel) subscriber.onMessage(message.payload ?? '')
    }
  }

  const open = async (): Promise<pg.Client> => {
    const client = await connectClient(options.target)
    client.on('notification', deliver)
    client.once('end', () => {
      if (stopping.signal.aborted) return
      connection = reopen()
      connection.catch(() => {})
    })
    for (const channel of new Set([...subscribers].map((one) => one.channel))) await client.query(`listen ${channel}`)
    return client
  }

  const reopen = async (): Promise<pg.Client> => {
    options.log.warn({}, 'the notification connection was lost; reconnecting')
    for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 1_000)) {
      await options.clock.sleep(waitMs, stopping.signal)
      try {
        const client = await open()
        for (const subscriber of subscribers) subscriber.onResync?.()
        return client
      } catch (error) {
        options.log.warn({ error: String(error) }, 'the notification connection could not be opened')
      }
    }
  }

  return {
    listen: async (channel, onMessage, onResync) => {
      if (!channelPattern.test(channel)) throw new Error(`not a channel name: ${channel}`)
      const subscriber: Subscriber = { channel, onMessage, ...(onResync ? { onResync } : {}) }
      subscribers.add(subscriber)
      connection ??= open()
      try {
        await ask(connection, `listen ${channel}`)
      } catch (error) {
        subscribers.delete(subscriber)
        connection = undefined
        throw error
      }
      return async () => {
        subscribers.delete(subscriber)
      }
    },
    close: async () => {
      stopping.abort(new Error('the store is closing'))
      subscribers.clear()
      const client = await connection?.catch(() => undefined)
      await client?.end().catch(() => {})
    },
  }
}
