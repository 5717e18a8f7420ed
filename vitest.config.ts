import { defineConfig } from 'vitest/config'
import { plantPlugin } from './test/planted/plugin.ts'
import { withoutShops } from './test/support/without-shops.ts'

const whole = ['packages/*/src/**/*.chain.test.ts', 'test/**/*.test.ts']

const { PLANT: planted, ASSAY_WITHOUT_SHOPS: without } = process.env

export default defineConfig({
  // npm run faults puts one fault into the code while it is loaded, and expects the tests to notice.
  plugins: [
    ...(planted === undefined ? [] : [plantPlugin(planted)]),
    ...(without === undefined ? [] : [withoutShops(without.split(','))]),
  ],
  test: {
    globalSetup: ['test/support/global-postgres.ts'],
    // A busy machine is late, and no test says how fast something is: that belongs in a bench. These only end what hangs.
    testTimeout: 120_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 30_000, interval: 20 } },
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      // These keep nothing outside themselves, so files may follow each other in one process: loading the same modules
      // for each of them would take longer than most of the tests.
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['packages/*/src/**/*.test.ts', 'bench/**/*.test.ts'],
          exclude: ['packages/*/src/**/*.chain.test.ts'],
          isolate: false,
        },
      },
      // A chain or a whole node: a process of its own for each file.
      { extends: true, test: { name: 'whole', include: whole } },
    ],
  },
})
