import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { KillPoints } from './kill-points.ts'

export type CrashChild = {
  url: string
  /** From now on it counts its port calls, and dies at the one of its plan. */
  arm(): Promise<void>
  /** One round of its jobs. */
  round(): Promise<'over' | 'killed'>
  seen(): Promise<string[]>
  /** Resolves when the process has ended, with the signal that ended it. */
  ended: Promise<NodeJS.Signals | null>
  stop(): Promise<void>
}

/** What controls a life in this process, which has no jobs. */
export const counted = (url: string, points: KillPoints, stop: () => Promise<void>): CrashChild => ({
  url,
  ended: Promise.resolve(null),
  arm: async () => points.arm(),
  round: async () => 'over',
  seen: async () => [...points.seen()],
  stop,
})

/** The messages that every crash child knows. */
export async function controlChild(child: ChildProcess): Promise<CrashChild> {
  const ended = once(child, 'exit').then(([, signal]) => signal as NodeJS.Signals | null)
  const url = await Promise.race([answer(child, 'ready'), ended.then(() => undefined)])
  if (url === undefined) throw new Error('the crashing process ended before its time')
  return {
    url: url as string,
    ended,
    arm: async () => {
      child.send('arm')
      await once(child, 'message')
    },
    round: async () => {
      if (!child.connected) return 'killed'
      const over = answer(child, 'round').then(() => 'over' as const)
      // It may die while this is on its way to it.
      child.send('round', () => {})
      return Promise.race([over, ended.then(() => 'killed' as const)])
    },
    seen: async () => {
      child.send('seen')
      return (await answer(child, 'seen')) as string[]
    },
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.send('stop')
      await ended
    },
  }
}

async function answer(child: ChildProcess, field: string): Promise<unknown> {
  for (;;) {
    const [sent] = (await once(child, 'message')) as [unknown]
    if (typeof sent === 'object' && sent !== null && field in sent) return (sent as Record<string, unknown>)[field]
  }
}
