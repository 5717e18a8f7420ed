// No test asserts how long something takes: a busy machine would break it. Growth is asserted by ratio
// (packages/till/src/kernel/growth.fixture.ts), speed belongs in bench/. So a test measures no time at all; what may is
// named here with its reason. Deadlines (`Date.now() + 30_000`) and points in time (`Date.now() - 60_000`) are fine.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const stopwatch =
  /\bperformance\.now\b|\bprocess\.(?:hrtime|cpuUsage|resourceUsage)\b|\bconsole\.time\b|\bsystemClock\.monotonicMs\(\)\s*-/
const now = String.raw`(?:\bDate\.now\(\)|\bsystemClock\.nowMs\(\))(?:\s*\/\s*1_?000)?`
/** Time since a moment that the code remembers; a number taken off is a point in the past. */
const since = new RegExp(String.raw`${now}\s*-(?!\s*(?:\d|[a-z]*(?:day|hour|minute|second)))|-\s*${now}`, 'i')

/** What may measure time. A line that is no longer needed is reported as well. */
const exceptions = {
  'packages/till/src/kernel/growth.fixture.ts': 'measures growth, and gives it as a ratio',
  'test/matrix.test.ts': 'how old data are that the node gives, not how long it takes',
  'test/sources-cli.test.ts': 'how many days a claim waits, not how long it takes',
  'test/test-clocks.test.ts': 'shows what the check finds',
  'test/ports-lint.test.ts': 'shows what another check finds',
}

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** Whether a line of a test measures how long something takes. */
export function measuresTime(line) {
  if (/^\s*(\/\/|\*|\/\*)/.test(line)) return false
  return stopwatch.test(line) || since.test(line)
}

function* testsBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      if (entry.name !== 'node_modules') yield* testsBelow(path)
    } else if (/\.(test|fixture)\.tsx?$/.test(entry.name)) yield path
  }
}

/** Every line of a test that measures time, and every exception nobody needs any more. */
export function checkTestClocks(folders, allowed = exceptions) {
  const problems = []
  const used = new Set()
  for (const path of folders.flatMap((folder) => [...testsBelow(join(root, folder))])) {
    const name = relative(root, path).split(sep).join('/')
    readFileSync(path, 'utf8')
      .split('\n')
      .forEach((line, index) => {
        if (!measuresTime(line)) return
        if (allowed[name]) used.add(name)
        else problems.push(`${name}:${index + 1}: a test that measures time: ${line.trim().slice(0, 80)}`)
      })
  }
  for (const name of Object.keys(allowed))
    if (!used.has(name)) problems.push(`${name}: needs no exception for measuring time any more`)
  return problems
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = checkTestClocks(['packages', 'test', 'bench'])
  for (const problem of problems) process.stdout.write(`${problem}\n`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
