/** Opens the store of the folder given and keeps it until standard input ends, telling what happens in lines of JSON. */
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { systemRng } from '../kernel/random.ts'
import { connectClient } from './connection.ts'
import { openStore } from './open-store.ts'

const say = (line: Record<string, unknown>) => process.stdout.write(`${JSON.stringify(line)}\n`)

try {
  const store = await openStore({
    home: process.argv[2] as string,
    clock: systemClock,
    log: silentLog,
    rng: systemRng,
    onProgress: (text) => say({ event: 'progress', text }),
    onLockLost: () => say({ event: 'lock lost' }),
  })
  const client = await connectClient({ url: store.databaseUrl })
  const { rows } = await client.query<{ folder: string; pid: string }>(
    `select current_setting('data_directory') as folder, split_part(pg_read_file('postmaster.pid'), E'\\n', 1) as pid`,
  )
  await client.end()
  say({ event: 'open', databaseUrl: store.databaseUrl, ...rows[0] })
  process.stdin.resume()
  await new Promise((resolve) => process.stdin.once('end', resolve))
  await store.stop()
  say({ event: 'stopped' })
} catch (error) {
  say({ event: 'failed', name: (error as Error).name, message: (error as Error).message })
}
