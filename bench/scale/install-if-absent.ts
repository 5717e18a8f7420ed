import { spawn, spawnSync } from 'node:child_process'

/** Servers that a proof starts for itself. */
export type Program = 'nats-server' | 'pgbouncer' | 'etcd' | 'patroni' | 'haproxy' | 'pgbackrest'

/** Debian's package, unless it has the name of the program, and where others get it. */
const sources: Record<Program, { package?: string; home: string }> = {
  'nats-server': { home: 'https://nats.io/download' },
  pgbouncer: { home: 'https://www.pgbouncer.org' },
  etcd: { package: 'etcd-server', home: 'https://etcd.io' },
  patroni: { package: 'patroni python3-etcd', home: 'https://patroni.readthedocs.io' },
  haproxy: { home: 'https://www.haproxy.org' },
  pgbackrest: { home: 'https://pgbackrest.org' },
}

const packagesOf = (program: Program) => sources[program].package ?? program

export const howToInstall = (program: Program) =>
  `${program} is not installed: \`apt-get install ${packagesOf(program)}\` as root on Debian and Ubuntu, else see ${sources[program].home}`

const answers = (path: string) =>
  ['--version', '-v', 'version'].some((flag) => spawnSync(path, [flag], { stdio: 'ignore' }).status === 0)

/** Debian puts servers where not every user looks. */
export const findProgram = (program: Program): string | undefined =>
  [program, `/usr/sbin/${program}`].find((path) => answers(path))

const tried = new Map<Program, Promise<void>>()

/**
 * Where the program is. A missing one is installed if we may do that here, once however many ask, and a line says so;
 * undefined when it is still missing.
 */
export async function installIfAbsent(
  program: Program,
  install: boolean,
  say: (text: string) => void,
): Promise<string | undefined> {
  const there = findProgram(program)
  if (there !== undefined) return there
  const able = process.getuid?.() === 0 && answers('apt-get')
  if (install && able) {
    const trying = tried.get(program) ?? installPackage(program, say)
    tried.set(program, trying)
    await trying
  }
  const found = findProgram(program)
  if (found === undefined) say(`  ${howToInstall(program)}`)
  return found
}

/** Where all of them are, or which one is missing. */
export async function installAll<Name extends Program>(
  programs: readonly Name[],
  install: boolean,
  say: (text: string) => void,
): Promise<{ paths: Record<Name, string> } | { missing: Name }> {
  const paths: Partial<Record<Name, string>> = {}
  for (const program of programs) {
    const found = await installIfAbsent(program, install, say)
    if (found === undefined) return { missing: program }
    paths[program] = found
  }
  return { paths: paths as Record<Name, string> }
}

async function installPackage(program: Program, say: (text: string) => void): Promise<void> {
  say(`  ${program} is missing: installing it with apt-get ...`)
  const update = await run('apt-get', ['update', '-q'])
  const added = await run('apt-get', ['install', '-qy', '--no-install-recommends', ...packagesOf(program).split(' ')])
  // Without lists the package may still be at hand, so only the second one decides.
  if (added.code !== 0)
    say(`  apt-get could not: ${lastLine(added.output) ?? lastLine(update.output) ?? 'no reason given'}`)
}

const lastLine = (text: string) => text.trim().split('\n').filter(Boolean).at(-1)

/** Not waited for in step: servers of ours go on answering meanwhile. */
function run(command: string, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    const collect = (piece: Buffer) => {
      output = `${output}${piece.toString()}`.slice(-4_000)
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.once('error', (error) => resolve({ code: null, output: String(error) }))
    child.once('close', (code) => resolve({ code, output }))
  })
}
