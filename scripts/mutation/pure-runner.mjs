import { createRequire, register } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin'
import { determineHitLimitReached, toMutantRunResult } from '@stryker-mutator/api/test-runner'
import { register as registerTypeScript } from 'tsx/esm/api'
import { pureTestsIn } from './pure-tests.mjs'

/** Where instrumented code looks for the mutant that is on, and where it notes what it passed. */
globalThis.__stryker__ ??= {}
const shared = globalThis.__stryker__

/**
 * Runs pure tests in one process. Vitest would start a worker and load every module again for each mutant, which takes
 * a hundred times as long as the tests themselves.
 */
class PureRunner {
  tests
  spoiled = false

  capabilities() {
    // Stryker starts a new process where a mutant must be on while modules load.
    return { reloadEnvironment: false }
  }

  async load() {
    registerTypeScript()
    register('./redirect-vitest.mjs', import.meta.url)
    const { default: fc } = await import(
      pathToFileURL(createRequire(resolve('package.json')).resolve('fast-check')).href
    )
    // A mutant that only some seeds kill would make the rate change from run to run.
    fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261 })
    const { declaredTests, enterFile } = await import('./vitest-stand-in.mjs')
    for (const file of pureTestsIn(JSON.parse(process.env.MUTATION_TESTS))) {
      enterFile(file)
      await import(pathToFileURL(resolve(file)).href)
    }
    this.tests = declaredTests()
  }

  async runAll(tests, stopAtFirst) {
    const results = []
    for (const { id, run } of tests) {
      shared.currentTestId = id
      const started = performance.now()
      const said = await Promise.resolve()
        .then(run)
        .then(
          () => undefined,
          (error) => String(error?.message ?? error),
        )
      shared.currentTestId = undefined
      const base = { id, name: id, timeSpentMs: performance.now() - started }
      results.push(said === undefined ? { ...base, status: 0 } : { ...base, status: 1, failureMessage: said })
      if (stopAtFirst && said !== undefined) break
    }
    return results
  }

  async dryRun() {
    if (!this.tests) await this.load()
    const tests = await this.runAll(this.tests, false)
    return { status: 'complete', tests, mutantCoverage: shared.mutantCoverage }
  }

  async mutantRun({ activeMutant, testFilter, hitLimit, mutantActivation }) {
    // Stryker answers an exception with a new process and asks again.
    if (this.spoiled) throw new Error('an earlier mutant has left something behind')
    shared.hitCount = hitLimit === undefined ? undefined : 0
    shared.hitLimit = hitLimit
    shared.activeMutant = mutantActivation === 'static' ? activeMutant.id : undefined
    try {
      if (!this.tests) await this.load()
    } catch (error) {
      return { status: 'killed', killedBy: ['loading'], failureMessage: String(error), nrOfTests: 1 }
    }
    shared.activeMutant = activeMutant.id
    const chosen = testFilter ? this.tests.filter(({ id }) => testFilter.includes(id)) : this.tests
    const tests = await this.runAll(chosen, true)
    shared.activeMutant = undefined
    const { hitCount } = shared
    await this.checkTraces(tests.at(-1))
    return toMutantRunResult(determineHitLimitReached(hitCount, hitLimit) ?? { status: 'complete', tests })
  }

  /** A mutant may spoil what a module keeps; the next ones would then be noticed for nothing. */
  async checkTraces(last) {
    if (last?.status !== 1) return
    const [again] = await this.runAll(
      this.tests.filter(({ id }) => id === last.id),
      true,
    )
    this.spoiled = again?.status === 1
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'pure', PureRunner)]
