import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/harness/longest-first.ts'
import { loadWithoutShops } from './test/harness/without-shops.ts'
import { plantPlugin } from './test/planted/plugin.ts'

const { CI: ci, PLANT: planted, ASSAY_WITHOUT_SHOPS: without, ASSAY_PROOFS: proofs } = process.env
/** Separate commands: sellers made with the built packages are killed; the files of an archive are read at many moments. */
const longProofs = ['test/packed-sellers.test.ts', 'bench/matrix/point-in-time.test.ts']

// Most code of a test runs a few times: optimizing it took more CPU than running what was optimized, so it has to run nine times as
// long first. Later versions of Node do not know the flag.
const optimizeLater = process.versions.node.startsWith('20.') ? ['--interrupt-budget=600000'] : []

export default defineConfig({
  // npm run faults puts one fault into the code while it is loaded, and expects the tests to notice.
  plugins: [
    ...(planted === undefined ? [] : [plantPlugin(planted)]),
    ...(without === undefined ? [] : [loadWithoutShops(without.split(','))]),
  ],
  test: {
    include: ['packages/*/src/**/*.test.ts', 'bench/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', ...(proofs === undefined ? longProofs : [])],
    setupFiles: ['test/harness/fast-check.ts'],
    globalSetup: ['test/harness/global-setup.ts'],
    // A busy machine is late, and no test says how fast something is: that belongs in a bench. These only end what hangs.
    testTimeout: 120_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 30_000, interval: 50 } },
    pool: 'forks',
    // For two cores: a test waits for its children, its database and time more than half of its life.
    maxWorkers: 5,
    // Files follow each other in these processes: loading a node for each would take longer than most of the tests.
    isolate: false,
    // What a test makes is mostly gone at its end: with more room for young objects they are collected less often.
    execArgv: ['--max-semi-space-size=64', ...optimizeLater],
    sequence: { sequencer: LongestFirst },
    experimental: {
      // Only files that changed are compiled again; code with a fault in it is never kept, and nothing where nobody runs it again.
      fsModuleCache: ci === undefined && planted === undefined && without === undefined,
      fsModuleCachePath: 'node_modules/.cache/vitest',
    },
  },
})
