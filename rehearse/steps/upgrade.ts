import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { expectThat } from '../report.ts'
import type { World } from '../world.ts'
import { at, brief, type Step } from './step.ts'

const root = join(import.meta.dirname, '..', '..')
const migration = '0002_later.sql'

/** A copy of the node with one migration more than this release: what a newer version looks like to the database. */
async function makeNewer(world: World): Promise<string> {
  const folder = join(world.home, 'newer')
  const modules = join(folder, 'node_modules')
  await mkdir(join(modules, '@assay'), { recursive: true })
  for (const name of ['scripts', 'packages', 'contracts', 'docs', 'package.json', 'package-lock.json'])
    await cp(join(root, name), join(folder, name), {
      recursive: true,
      filter: (path) => !path.endsWith('node_modules'),
    })
  for (const name of await readdir(join(root, 'node_modules')))
    if (name !== '@assay' && name !== '.cache') await symlink(join(root, 'node_modules', name), join(modules, name))
  for (const name of await readdir(join(folder, 'packages')))
    await symlink(join(folder, 'packages', name), join(modules, '@assay', name))
  await writeFile(
    join(folder, 'packages', 'till', 'src', 'store', 'migrations', migration),
    'alter table payment add column later_note text;\n',
  )
  return folder
}

export const upgrade: Step = async (world, report, planted) => {
  report.step('7. upgrade')
  await report.check('a newer process migrates the database while the older one sells', async () => {
    const older = world.node
    const folder = planted === 'upgrade' ? root : await makeNewer(world)
    await world.startNode({}, folder)
    const client = new pg.Client({ connectionString: world.postgres.url })
    await client.connect()
    const { rows } = await client.query<{ n: number }>(
      `select count(*)::int as n from schema_migration where name like '%later%'`,
    )
    await client.end()
    expectThat(rows[0]?.n === 1, 'the migration is not applied')
    const buyer = await world.newBuyer(5)
    const seen = await world.buy({ key: buyer.key, url: at('/v1/sandbox/echo?message=newer') })
    expectThat(seen.status === 200, brief(seen))
    const code = await older?.end('SIGTERM')
    expectThat(code === 0, `the older process ended with ${code}`)
    return 'migrated, sold by the newer one, the older one drained with exit code 0'
  })
  await report.check('the newer process goes on alone and ends in order', async () => {
    const buyer = await world.newBuyer(5)
    const seen = await world.buy({ key: buyer.key, url: at('/v1/sandbox/echo?message=alone') })
    expectThat(seen.status === 200, brief(seen))
    const code = await world.node?.end('SIGTERM')
    expectThat(code === 0, `it ended with ${code}`)
    return 'sold, ended with exit code 0'
  })
}
