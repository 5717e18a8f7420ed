// scripts/mutate.mjs says what to mutate and with which tests; this is what all targets share.
const target = process.env.MUTATION_TARGET ?? 'kernel'
const folder = 'coverage/mutation'

export default {
  testRunner: 'pure',
  mutate: JSON.parse(process.env.MUTATION_FILES ?? '["packages/till/src/kernel/*.ts"]'),
  plugins: ['./scripts/mutation/pure-runner.mjs', './scripts/mutation/ignore-prose.mjs'],
  ignorers: ['prose'],
  coverageAnalysis: 'perTest',
  // What runs only while modules load (tables, patterns, the choice of a library) would need a process for each mutant.
  ignoreStatic: true,
  concurrency: 2,
  timeoutMS: 3_000,
  timeoutFactor: 2,
  reporters: ['json'],
  jsonReporter: { fileName: `${folder}/${target}.json` },
  tempDirName: `${folder}/work-${target}`,
  ignorePatterns: ['coverage', 'bench', 'docs', 'deploy', '.assay', 'packages/web', 'packages/*/dist'],
  // Stryker would rewrite a tsconfig with TypeScript's old interface, which version 7 does not have; no path needs it.
  tsconfigFile: 'none',
  allowConsoleColors: false,
  warnings: { slow: false },
}
