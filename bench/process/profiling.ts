import { Session } from 'node:inspector/promises'

/** A function, where it is, and the time spent in it alone. */
export type Frame = { functionName: string; url: string; selfMicros: number }

const sampleEveryMicros = 500
let session: Session | undefined

/** In the process that is profiled: from now on samples are taken. */
export async function startProfile(): Promise<void> {
  session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: sampleEveryMicros })
  await session.post('Profiler.start')
}

export async function stopProfile(): Promise<Frame[]> {
  if (!session) throw new Error('no profile was started')
  const { profile } = await session.post('Profiler.stop')
  session.disconnect()
  session = undefined
  const byNode = new Map<number, number>()
  profile.samples?.forEach((id, index) => {
    byNode.set(id, (byNode.get(id) ?? 0) + (profile.timeDeltas?.[index] ?? 0))
  })
  const frames = new Map<string, Frame>()
  for (const { id, callFrame } of profile.nodes) {
    const { functionName, url } = callFrame
    const key = `${functionName} ${url}`
    const frame = frames.get(key) ?? { functionName, url, selfMicros: 0 }
    frame.selfMicros += byNode.get(id) ?? 0
    frames.set(key, frame)
  }
  return [...frames.values()].filter(({ selfMicros }) => selfMicros > 0)
}
