import { type ChildProcess, spawn } from 'node:child_process'
import { cp, rm, writeFile } from 'node:fs/promises'
import { connectClient } from './connection.ts'
import { freePort } from './embedded/free-port.ts'
import { dataFolderOf } from './embedded/place.ts'
import { asUser, runTool, toolEnvironment } from './embedded/tools.ts'
import type { TestServer } from './testing.ts'

export type TestReplica = {
  url: string
  /** Runs at the replica itself. */
  run(text: string): Promise<void>
  stop(): Promise<void>
}

/** A streaming replica of a test server: a copy of its files that follows its log. */
export async function startReplica(primary: TestServer): Promise<TestReplica> {
  const { place } = primary
  const port = await freePort()
  const folder = `${dataFolderOf(place)}-replica-${port}`
  const client = await connectClient({ url: primary.url })
  await client.query(`select pg_backup_start('replica', true)`)
  await cp(dataFolderOf(place), folder, {
    recursive: true,
    filter: (path) => !/postmaster\.(?:pid|opts)$|pg_wal\/[0-9A-F]{24}/.test(path),
  })
  const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
  await client.end()
  await writeFile(`${folder}/backup_label`, rows[0]?.labelfile ?? '')
  await writeFile(`${folder}/standby.signal`, '')
  if (place.user) await runTool('chown', ['-R', `${place.user.uid}:${place.user.gid}`, folder])
  await runTool('chmod', ['700', folder])
  const from = new URL(primary.url)
  const conninfo = `host=127.0.0.1 port=${from.port} user=${from.username} password=${decodeURIComponent(from.password)}`
  const settings = {
    ...{ port, primary_conninfo: conninfo, listen_addresses: '127.0.0.1', unix_socket_directories: '' },
    // As on the primary: a replica with fewer does not start.
    ...{
      fsync: 'off',
      shared_buffers: '16MB',
      max_connections: 300,
      hot_standby: 'on',
      wal_retrieve_retry_interval: '50ms',
    },
  }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(place.binaries.postgres, ['-D', folder, ...args], {
    ...{ cwd: '/', env: toolEnvironment(), stdio: 'ignore' as const },
    ...asUser(place.user),
  })
  const url = Object.assign(new URL(from), { host: `127.0.0.1:${port}`, search: '' }).href
  await untilServing(url, child)
  return {
    url,
    run: async (text) => {
      const own = await connectClient({ url })
      await own.query(text)
      await own.end()
    },
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      if (child.exitCode === null && child.kill('SIGINT')) await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function untilServing(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the replica ended with ${child.exitCode}`)
    const client = await connectClient({ url }).catch(() => undefined)
    if (client) return client.end()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
