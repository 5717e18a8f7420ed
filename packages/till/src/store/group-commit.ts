import { CommitUnknown, StoreUnavailable } from './errors.ts'

export type BatcherOptions<Item, Result> = {
  /** Does the whole batch, all or nothing, and gives one result per item in the same order. */
  run(items: Item[]): Promise<Result[]>
  maxItems: number
  maxConcurrent: number
  /** False: an error of a batch is the error of each of its items. */
  isolateFailures?: boolean
}

export type Batcher<Item, Result> = {
  submit(item: Item): Promise<Result>
  /** Items waiting or under way. */
  size(): number
  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void>
}

type Waiting<Item, Result> = { item: Item; resolve(result: Result): void; reject(error: unknown): void }

/**
 * How many items must wait before a second batch starts in parallel: two half-empty batches cost more than a full one.
 */
const parallelBatchMin = 32
/** A batch that takes longer than this may be stuck, and those who wait must not depend on it. */
const stuckAfterMs = 25

/**
 * Group commit: what arrives while batches are in flight forms the next one, so one durable write carries many items
 * under load. An idle batcher starts at the end of the current turn of the event loop, so a lone item does not wait.
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  const queue: Waiting<Item, Result>[] = []
  let idleWaiters: (() => void)[] = []
  let inFlight = 0
  let inProgress = 0
  let scheduled = false
  let late: NodeJS.Timeout | undefined

  const mayStart = () => inFlight === 0 || (inFlight < options.maxConcurrent && queue.length >= parallelBatchMin)
  const schedule = () => {
    if (scheduled || queue.length === 0) return
    if (!mayStart()) return watchForStuck()
    scheduled = true
    setImmediate(() => {
      scheduled = false
      start()
    })
  }
  const watchForStuck = () => {
    if (late !== undefined || inFlight >= options.maxConcurrent) return
    late = setTimeout(() => {
      late = undefined
      start()
    }, stuckAfterMs)
  }

  const start = () => {
    if (queue.length === 0 || inFlight >= options.maxConcurrent) return
    const batch = queue.splice(0, options.maxItems)
    inFlight += 1
    inProgress += batch.length
    void settleBatch(options, batch).then(() => {
      inFlight -= 1
      inProgress -= batch.length
      clearTimeout(late)
      late = undefined
      if (queue.length > 0) schedule()
      else if (inFlight === 0) {
        for (const wake of idleWaiters) wake()
        idleWaiters = []
      }
    })
    if (queue.length >= options.maxItems) start()
    else schedule()
  }

  return {
    submit: (item) =>
      new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject })
        schedule()
      }),
    size: () => queue.length + inProgress,
    idle: () =>
      queue.length + inProgress === 0 ? Promise.resolve() : new Promise((resolve) => idleWaiters.push(resolve)),
  }
}

/** Settles every promise of the batch; never throws. A failed batch is halved until the bad item is alone. */
async function settleBatch<Item, Result>(
  options: BatcherOptions<Item, Result>,
  batch: Waiting<Item, Result>[],
): Promise<void> {
  try {
    const results = await options.run(batch.map((waiting) => waiting.item))
    if (results.length !== batch.length) throw new Error('a batch must give one result per item')
    batch.forEach((waiting, index) => {
      waiting.resolve(results[index] as Result)
    })
  } catch (error) {
    if (batch.length === 1 || options.isolateFailures === false || !isWorthSplitting(error)) {
      for (const waiting of batch) waiting.reject(error)
      return
    }
    const middle = batch.length >> 1
    await settleBatch(options, batch.slice(0, middle))
    await settleBatch(options, batch.slice(middle))
  }
}

/** An unknown outcome must not be tried again blindly, and a database that is away is away for each half too. */
function isWorthSplitting(error: unknown): boolean {
  return !(error instanceof CommitUnknown || error instanceof StoreUnavailable)
}
