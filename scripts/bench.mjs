// npm run bench: installs what is missing, then measures this node beside its peers and compares the ratios with what is
// required; with --all every bench there is.
import { installIfMissing } from './install-if-missing.mjs'

installIfMissing()
const { register } = await import('tsx/esm/api')
register()
const args = process.argv.slice(2)
if (args.includes('--all')) {
  const { runAll } = await import('../bench/all/main.ts')
  process.exitCode = await runAll(args)
} else {
  const { runBench } = await import('../bench/main.ts')
  process.exitCode = await runBench(args)
}
