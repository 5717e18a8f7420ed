import { z } from 'zod'

export type LogSettings = { anchorMs: number; witnesses: readonly { url: string; key: string }[] }

const schema = (demo: boolean) =>
  z.object({
    anchor_minutes: z
      .number()
      .min(0.01)
      .max(10_080)
      .default(demo ? 1 : 60),
    witnesses: z
      .array(z.strictObject({ url: z.url({ protocol: /^https?$/ }), key: z.string().max(400) }))
      .max(20)
      .default([]),
  })

/** The members of `CITATIONS` that are about the log. */
export function parseLogSettings(given: unknown, demo: boolean): LogSettings {
  const parsed = schema(demo).safeParse(given ?? {})
  if (!parsed.success)
    throw new RangeError(
      parsed.error.issues.map((issue) => `CITATIONS: ${issue.path.join('.')} ${issue.message}`).join('; '),
    )
  return { anchorMs: parsed.data.anchor_minutes * 60_000, witnesses: parsed.data.witnesses }
}
