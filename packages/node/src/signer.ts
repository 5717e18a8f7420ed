/** What holds keys in a separate process, without loading the node. */
export { systemClock } from '@assay/till/kernel/clock'
export { stderrLog } from '@assay/till/kernel/stderr-log'
export { serveSigner } from '@assay/till/signer'
