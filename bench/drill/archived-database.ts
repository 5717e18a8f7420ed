import { chmod, chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { chooseRunUser } from '../../packages/till/src/store/embedded/run-user.ts'
import { type FailoverDatabase, type Member, openFailoverDatabase } from '../scale/failover-database.ts'
import { howToInstall, installAll } from '../scale/install-if-absent.ts'

/** How a database is saved and made again. */
export type Backups = {
  /** Once, while little has been sold. */
  begin(): Promise<void>
  /** Everything until now can be restored; says what was saved. */
  take(): Promise<string>
  restore(): Promise<{ databaseUrl: string; stop(): Promise<void> }>
}

type Server = { databaseUrl: string; stop(): Promise<void> }

/** A Patroni cluster that archives its log, and a second one made from the archive as it was when `take` ended. */
export async function archivedDatabase(
  say: (text: string) => void,
): Promise<Backups & { open(home: string): Promise<Server> }> {
  const programs = await installAll(['etcd', 'patroni', 'haproxy', 'pgbackrest'], true, say)
  if ('missing' in programs) throw new Error(howToInstall(programs.missing))
  let opened: { home: string; repository: string; database: FailoverDatabase } | undefined
  let restoreTo = ''
  const running = () => {
    if (!opened) throw new Error('the database is not open')
    return opened
  }
  const leader = async () => (await running().database.leader()) as Member
  return {
    open: async (home) => {
      const repository = join(home, 'repository')
      const user = await chooseRunUser()
      await mkdir(repository)
      if (user) await chown(repository, user.uid, user.gid)
      else await chmod(repository, 0o700)
      const database = await openFailoverDatabase(home, programs.paths, { repository })
      opened = { home, repository, database }
      return database
    },
    begin: async () => {
      await (await leader()).backUp(['stanza-create'])
      await (await leader()).backUp(['--type=full', 'backup'])
    },
    take: async () => {
      restoreTo = await running().database.now()
      // Waits until the segment that holds this moment is in the repository.
      await (await leader()).backUp(['check'])
      return `a full backup and its log, to be restored as of ${restoreTo},`
    },
    restore: async () => {
      const { home, repository, database } = running()
      await database.stop()
      return openFailoverDatabase(home, programs.paths, { repository, restoreTo, password: database.password })
    },
  }
}
