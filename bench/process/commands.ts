import { startProfile, stopProfile } from './profiling.ts'

/** What a child can be asked, by name; one argument, one answer, both plain data. */
export type Commands = Record<string, (argument: never) => unknown>

export type Question = { id: number; name: string; argument: unknown }
export type Answer = { id: number; result?: unknown; error?: string }

const stopWithinMs = 90_000

/** What every child can be asked. */
const common: Commands = { profile_start: startProfile, profile_stop: stopProfile }

/** In a child: answers questions of the parent until it is asked to stop or the parent has gone. */
export function answerCommands(given: Commands, stop: () => Promise<void>): void {
  const commands = { ...common, ...given }
  const end = () => {
    // Long enough for a node to drain and to stop its database: cut short, it would leave a server behind.
    setTimeout(() => process.exit(1), stopWithinMs).unref()
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.once('disconnect', end)
  process.on('SIGINT', () => {})
  process.on('message', (question: Question) => {
    const { id, name, argument } = question
    if (name === 'stop') return end()
    Promise.resolve()
      .then(() => (commands[name] as (given: unknown) => unknown)(argument))
      .then(
        (result) => process.send?.({ id, result } satisfies Answer),
        (error: unknown) =>
          process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
      )
  })
  process.send?.({ id: 0 } satisfies Answer)
}

/** CPU time of this process so far, all threads, in microseconds. */
export function cpuMicros(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}
