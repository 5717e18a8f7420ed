// npm start: installs what is missing, then becomes the node. No build step.
import { installIfMissing } from './install-if-missing.mjs'

installIfMissing()
const { register } = await import('tsx/esm/api')
register()
const { runNode } = await import('../packages/node/src/main.ts')
await runNode()
