import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Debian puts it where not every user looks. */
const binary = ['nats-server', '/usr/sbin/nats-server'].find(
  (path) => spawnSync(path, ['--version'], { stdio: 'ignore' }).status === 0,
)

export const natsInstalled = binary !== undefined

export type NatsServer = { url: string; stop(): Promise<void>; kill(): Promise<void> }

/** A real server with JetStream on a free port of loopback, thrown away after. */
export async function startNats(
  port = -1,
  folder?: string,
  login?: { user: string; password: string },
): Promise<NatsServer & { port: number; folder: string }> {
  const data = folder ?? (await mkdtemp(join(tmpdir(), 'assay-nats-')))
  const options = ['-js', '-a', '127.0.0.1', '-p', String(port), '-sd', data]
  if (login) options.push('--user', login.user, '--pass', login.password)
  const child = spawn(binary ?? 'nats-server', options, { stdio: ['ignore', 'ignore', 'pipe'] })
  const chosen = await listeningPort(child)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return {
    url: `nats://127.0.0.1:${chosen}`,
    port: chosen,
    folder: data,
    kill,
    stop: async () => {
      await kill()
      await rm(data, { recursive: true, force: true })
    },
  }
}

function listeningPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let said = ''
    child.once('exit', () => reject(new Error(`nats-server ended: ${said}`)))
    child.stderr?.on('data', (piece: Buffer) => {
      said += piece.toString()
      const port = /Listening for client connections on 127\.0\.0\.1:(\d+)/.exec(said)?.[1]
      if (port !== undefined && said.includes('Server is ready')) resolve(Number(port))
    })
  })
}
