import type pg from 'pg'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import { type ConnectionTarget, connectClient } from '../connection.ts'
import { AlreadyRunning } from '../errors.ts'

/** Held by the process that runs the data folder for as long as it lives, on a connection used for nothing else. */
export type OwnerLock = {
  held(): boolean
  /** From now on the end of the connection is expected. */
  expectEnd(): void
  release(): Promise<void>
}

export type OwnerLockOptions = {
  target: ConnectionTarget
  folder: string
  clock: Clock
  log: Log
  onLost(): void
}

const lockSql = 'select pg_try_advisory_lock(1634952033, 1) as held'
/** After a kill the server needs a moment to notice that the old owner's connection is gone. */
const patienceMs = 1_500
const regainWithinMs = 10_000

export async function takeOwnerLock(options: OwnerLockOptions): Promise<OwnerLock> {
  let client = await acquire(options, patienceMs)
  const ending = new AbortController()
  let held = true

  const watch = (watched: pg.Client) => {
    watched.once('end', () => {
      if (ending.signal.aborted) return
      held = false
      options.log.warn({}, 'the connection that holds the data folder was lost; trying to get it back')
      acquire(options, regainWithinMs).then(
        (regained) => {
          client = regained
          held = true
          if (ending.signal.aborted) return void client.end()
          watch(client)
          options.log.info({}, 'the data folder is held again')
        },
        () => {
          if (!ending.signal.aborted) options.onLost()
        },
      )
    })
  }
  watch(client)

  return {
    held: () => held,
    expectEnd: () => ending.abort(),
    release: async () => {
      ending.abort()
      await client.end().catch(() => {})
    },
  }
}

async function acquire(options: OwnerLockOptions, withinMs: number): Promise<pg.Client> {
  const startedAt = options.clock.monotonicMs()
  for (;;) {
    const outcome = await tryAcquire(options.target)
    if (outcome.status === 'held') return outcome.client
    if (options.clock.monotonicMs() - startedAt > withinMs) throw outcome.error ?? new AlreadyRunning(options.folder)
    await options.clock.sleep(100)
  }
}

async function tryAcquire(
  target: ConnectionTarget,
): Promise<{ status: 'held'; client: pg.Client } | { status: 'not_held'; error?: unknown }> {
  let client: pg.Client | undefined
  try {
    client = await connectClient(target)
    const { rows } = await client.query<{ held: boolean }>(lockSql)
    if (rows[0]?.held) return { status: 'held', client }
    await client.end()
    return { status: 'not_held' }
  } catch (error) {
    await client?.end().catch(() => {})
    return { status: 'not_held', error }
  }
}
