import { createMetrics, type Families, type PrometheusMetrics, type SocketHandle } from '../../http/index.ts'

/** What a worker has from its primary. */
export type WorkerPlace = {
  /** The first does the jobs. */
  index: number
  handles: readonly SocketHandle[]
  /** What /metrics shows: the series of all workers. */
  metricsText(): Promise<string>
  /** Called with this worker's own metrics, for the others. */
  answerWith(families: () => Promise<Families>): void
}

export function openMetrics(worker: WorkerPlace | undefined): PrometheusMetrics {
  if (!worker) return createMetrics()
  const own = createMetrics({ process: String(worker.index) })
  worker.answerWith(own.families)
  return { ...own, text: worker.metricsText }
}
