// npm run bench: installs what is missing, then measures this node beside its peers and compares the ratios with what is required.
import { installIfMissing } from './install-if-missing.mjs'

installIfMissing()
const { register } = await import('tsx/esm/api')
register()
const { runBench } = await import('../bench/main.ts')
process.exitCode = await runBench(process.argv.slice(2))
