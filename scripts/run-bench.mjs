// Runs one of the proofs under bench/ after installing what is missing: node scripts/run-bench.mjs <name> [options].
import { installIfMissing } from './install-if-missing.mjs'

installIfMissing()
const { register } = await import('tsx/esm/api')
register()
const [name, ...args] = process.argv.slice(2)
const runs = {
  peers: async () => (await import('../bench/peers/main.ts')).runPeers,
  till: async () => (await import('../bench/main.ts')).runBench,
  all: async () => (await import('../bench/all/main.ts')).runAll,
  partitions: async () => (await import('../bench/partitions/main.ts')).runPartitions,
  drill: async () => (await import('../bench/drill/main.ts')).runDrill,
  profile: async () => (await import('../bench/profile/main.ts')).runProfile,
  load: async () => (await import('../bench/load/main.ts')).runLoadProof,
  scale: async () => (await import('../bench/scale/main.ts')).runScale,
}
if (!Object.hasOwn(runs, name ?? '')) {
  process.stderr.write(`known: ${Object.keys(runs).join(', ')}\n`)
  process.exitCode = 2
} else {
  const run = await runs[name]()
  // Not thrown on: after Ctrl-C whatever was running fails, while what it started is still being stopped in order.
  process.exitCode = await run(args).catch((error) => {
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
    return 1
  })
}
