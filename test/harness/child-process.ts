import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { TillFixture } from './till-fixture.ts'

export type ChildNode = {
  url: string
  /** From now on the child counts its port calls, and dies at the one it was told. */
  arm(): Promise<void>
  seen(): Promise<string[]>
  /** Resolves when the process has ended, with the signal that ended it. */
  ended: Promise<NodeJS.Signals | null>
  stop(): Promise<void>
}

/** What another process needs to work on the database and chains of a fixture. */
export const environmentOf = (till: TillFixture) => ({
  PATH: process.env['PATH'],
  PORT: '0',
  // One public name for all processes of a node, as behind a load balancer.
  BASE_URL: till.node.url,
  ASSAY_HOME: till.node.config.home,
  DATABASE_URL: till.db.databaseUrl,
  BASE_RPC_URLS: till.base.url,
  POLYGON_RPC_URLS: till.polygon.url,
  LOG_LEVEL: 'silent',
  MATRIX: '{"demo":"off"}',
  INTENTS: '{"demo":"off"}',
})

/** Starts a node in another process on the database and chains of a fixture. */
export async function startChild(
  till: TillFixture,
  kill?: { at: number; when: 'before' | 'after' },
): Promise<ChildNode> {
  const child = fork(join(import.meta.dirname, 'child-node.ts'), {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: {
      ...environmentOf(till),
      ...(kill === undefined ? {} : { KILL_AT: String(kill.at), KILL_WHEN: kill.when }),
    },
  })
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_code, signal) => resolve(signal)))
  const { ready } = (await message(child, (sent) => typeof sent === 'object' && sent !== null && 'ready' in sent)) as {
    ready: string
  }
  return {
    url: ready,
    ended,
    arm: async () => {
      const armed = message(child, (sent) => sent === 'armed')
      child.send('arm')
      await armed
    },
    seen: async () => {
      const answer = message(child, (sent) => typeof sent === 'object' && sent !== null && 'seen' in sent)
      child.send('seen')
      return ((await answer) as { seen: string[] }).seen
    },
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.send('stop')
      await ended
    },
  }
}

function message(child: ChildProcess, fits: (sent: unknown) => boolean): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onMessage = (sent: unknown) => {
      if (!fits(sent)) return
      child.off('message', onMessage).off('exit', onExit)
      resolve(sent)
    }
    const onExit = () => reject(new Error('the child ended before it answered'))
    child.on('message', onMessage).once('exit', onExit)
  })
}
