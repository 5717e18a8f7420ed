import { spawn, spawnSync } from 'node:child_process'

/** Servers that a proof starts for itself; Debian's packages have their names. */
export type Program = 'nats-server' | 'pgbouncer'

const homes: Record<Program, string> = {
  'nats-server': 'https://nats.io/download',
  pgbouncer: 'https://www.pgbouncer.org',
}

export const howToInstall = (program: Program) =>
  `${program} is not installed: \`apt-get install ${program}\` as root on Debian and Ubuntu, else see ${homes[program]}`

const answers = (path: string) => spawnSync(path, ['--version'], { stdio: 'ignore' }).status === 0

/** Debian puts servers where not every user looks. */
export const findProgram = (program: Program): string | undefined =>
  [program, `/usr/sbin/${program}`].find((path) => answers(path))

const tried = new Map<Program, Promise<void>>()

/**
 * Where the program is. A missing one is installed if we may do that here, once however many ask, and the reader is told;
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

async function installPackage(program: Program, say: (text: string) => void): Promise<void> {
  say(`  ${program} is missing: installing it with apt-get ...`)
  const update = await run('apt-get', ['update', '-q'])
  const added = await run('apt-get', ['install', '-qy', '--no-install-recommends', program])
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
