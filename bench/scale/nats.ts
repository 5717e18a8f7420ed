import { installIfAbsent } from './install-if-absent.ts'

export type Nats = { url: string; stop(): Promise<void> }

/** A real server with JetStream. Without one the processes tell each other by LISTEN/NOTIFY, which is said. */
export async function openNats(install: boolean, say: (text: string) => void): Promise<Nats | undefined> {
  if ((await installIfAbsent('nats-server', install, say)) === undefined) {
    say('  going on with LISTEN/NOTIFY')
    return undefined
  }
  // It looks for the program when it is loaded, which must be after the installation.
  const { startNats } = await import('../../packages/node/src/shops/intents/nats-server.fixture.ts')
  return startNats()
}
