// What pure tests take from vitest, without its workers: a mutant is switched on in a process that has loaded everything.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

// Vitest's own assertions, from where vitest has them.
const fromVitest = createRequire(createRequire(import.meta.url).resolve('vitest/package.json'))
const { chai, JestAsymmetricMatchers, JestChaiExpect, JestExtend, ASYMMETRIC_MATCHERS_OBJECT } = await import(
  pathToFileURL(fromVitest.resolve('@vitest/expect')).href
)
chai.use(JestExtend)
chai.use(JestChaiExpect)
chai.use(JestAsymmetricMatchers)

const expectNow = (value, message) => chai.expect(value, message)

/** A matcher that is asked again until it passes or its time is over; as long as in vitest.config.ts. */
const poll = (read, { timeout = 30_000, interval = 50 } = {}) =>
  new Proxy(
    {},
    {
      get:
        (_, matcher) =>
        async (...expected) => {
          const endMs = performance.now() + timeout
          for (;;) {
            try {
              return expectNow(await read())[matcher](...expected)
            } catch (error) {
              if (performance.now() > endMs) throw error
            }
            await new Promise((resolve) => setTimeout(resolve, interval))
          }
        },
    },
  )

export const expect = Object.assign(expectNow, chai.expect, globalThis[ASYMMETRIC_MATCHERS_OBJECT], { poll })

const collected = []
let scope = []

/** Everything that test files have declared until now. */
export const declaredTests = () => collected

/** Names what is declared after it, since two files may use the same words. */
export function enterFile(file) {
  scope = [file]
}

function declare(name, ...rest) {
  const run = rest.find((one) => typeof one === 'function')
  const title = [...scope, name].join(' > ')
  const same = collected.filter((test) => test.title === title).length
  const id = same === 0 ? title : `${title} #${same + 1}`
  collected.push({ id, title, run })
}

const eachOf = (declareOne) => (rows) => (name, run) => {
  for (const [index, row] of rows.entries())
    declareOne(`${name} [${index}]`, () => (Array.isArray(row) ? run(...row) : run(row)))
}

export const test = Object.assign(declare, { each: eachOf(declare) })
export const it = test

function group(name, declareInner) {
  const outer = scope
  scope = [...outer, name]
  declareInner()
  scope = outer
}
export const describe = Object.assign(group, { each: eachOf(group) })
