import { StoreError } from '../errors.ts'
import { type RunUser, runTool } from './tools.ts'

/** PostgreSQL refuses to run as root, so root lends it another account. Undefined: we are not root. */
export async function chooseRunUser(): Promise<RunUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const found =
    (await lookUp('postgres')) ?? (await lookUp('assay')) ?? (await createAccount()) ?? (await lookUp('nobody'))
  if (found) return found
  throw new StoreError(
    'PostgreSQL does not run as root, and no other account was found or could be created. Start the node as a normal user, or create an account named "assay".',
  )
}

async function lookUp(name: string): Promise<RunUser | undefined> {
  const [uid, gid] = await Promise.all([idOf('-u', name), idOf('-g', name)])
  return uid === undefined || gid === undefined || uid === 0 ? undefined : { name, uid, gid }
}

async function idOf(flag: '-u' | '-g', name: string): Promise<number | undefined> {
  const { code, output } = await runTool('id', [flag, name]).catch(() => ({ code: 1, output: '' }))
  return code === 0 && /^[0-9]+$/.test(output) ? Number(output) : undefined
}

/** The first form is that of most Linux systems, the second that of BusyBox. */
async function createAccount(): Promise<RunUser | undefined> {
  const attempts: [string, string[]][] = [
    ['useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'assay']],
    ['adduser', ['-S', '-D', '-H', 'assay']],
  ]
  for (const [program, args] of attempts) {
    await runTool(program, args).catch(() => undefined)
    const made = await lookUp('assay')
    if (made) return made
  }
  return undefined
}

/** Asks as that user, because mode bits alone do not tell (ACLs, mounts, parents). */
export async function canEnter(user: RunUser, folder: string): Promise<boolean> {
  return (await runTool('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], user)).code === 0
}

export async function canRun(user: RunUser, program: string): Promise<boolean> {
  return (await runTool('/bin/sh', ['-c', 'test -x "$1"', 'sh', program], user)).code === 0
}
