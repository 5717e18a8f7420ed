export { checkLog } from './check-log.ts'
export { checkReceipts } from './check-receipts.ts'
export { type FolderStore, folderName, openFolderStore } from './folder-store.ts'
export { followKeys } from './follow-keys.ts'
export { createMonitorHttp } from './http-adapter.ts'
export { type MonitorPage, serveMonitor } from './serve-monitor.ts'
export { renderStatusPage, statusJson, statusPageHeaders } from './status-page.ts'
export {
  defaultMonitorOptions,
  emptyState,
  type Finding,
  type LogState,
  type MonitorDeps,
  type MonitorHttp,
  type MonitorOptions,
  type WitnessOption,
} from './types.ts'
export { verdictOf, watchLog } from './watch-log.ts'
