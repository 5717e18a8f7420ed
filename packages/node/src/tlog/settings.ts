import { z } from 'zod'

export type LogSettings = {
  anchorMs: number
  witnesses: readonly { url: string; key: string }[]
  /** Between two looks of the node's own monitor at its log; 0 runs none. */
  monitorMs: number
  peerWitnesses: { witnessesMax: number; everyMs: number }
}

const schema = (demo: boolean) =>
  z.strictObject({
    anchor_minutes: z
      .number()
      .min(0.01)
      .max(10_080)
      .default(demo ? 1 : 60),
    witnesses: z
      .array(z.strictObject({ url: z.url({ protocol: /^https?$/ }), key: z.string().max(400) }))
      .max(20)
      .default([]),
    monitor_seconds: z
      .number()
      .min(0)
      .max(3_600)
      .default(demo ? 5 : 0),
    peer_witnesses: z.int().min(0).max(32).default(8),
    peer_witness_seconds: z
      .number()
      .min(0.1)
      .max(86_400)
      .default(demo ? 2 : 60),
  })

/** From the JSON of `TLOG`. */
export function parseLogSettings(given: unknown, demo: boolean): LogSettings {
  const parsed = schema(demo).safeParse(given ?? {})
  if (!parsed.success)
    throw new RangeError(
      parsed.error.issues.map((issue) => `TLOG: ${issue.path.join('.')} ${issue.message}`).join('; '),
    )
  const { data } = parsed
  return {
    anchorMs: data.anchor_minutes * 60_000,
    witnesses: data.witnesses,
    monitorMs: data.monitor_seconds * 1000,
    peerWitnesses: { witnessesMax: data.peer_witnesses, everyMs: data.peer_witness_seconds * 1000 },
  }
}
