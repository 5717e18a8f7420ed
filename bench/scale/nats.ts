import { spawnSync } from 'node:child_process'
import { natsInstalled, startNats } from '../../packages/node/src/market/intents/nats-server.fixture.ts'

export type Nats = { url: string; stop(): Promise<void> }

const howToInstall =
  'nats-server is not installed: `npm run scale -- --install`, `apt-get install nats-server` or nats.io'

/** A real server with JetStream. Without one the processes tell each other by LISTEN/NOTIFY, which is said. */
export async function openNats(install: boolean, say: (text: string) => void): Promise<Nats | undefined> {
  if (natsInstalled) return startNats()
  if (install && spawnSync('apt-get', ['install', '-y', 'nats-server'], { stdio: 'ignore' }).status === 0)
    return startNats()
  say(`  ${howToInstall}; going on with LISTEN/NOTIFY`)
  return undefined
}
