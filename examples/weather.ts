// What the sellers sell: replace it by something worth paying for.
import { z } from 'zod'

export const City = z.object({ city: z.string().min(1).max(60) })
export const Cities = z.strictObject({ cities: z.array(z.string().min(1).max(60)).min(1).max(10) })
export const Weather = z.object({ city: z.string(), degrees: z.number(), note: z.string() })
export const Report = z.object({ cities: z.array(Weather) })

/** `signal` is aborted when the time for an answer is over. */
export type WeatherSource = (city: string, signal: AbortSignal) => Promise<z.infer<typeof Weather>>

export const lookUp: WeatherSource = async (city) => ({ city, degrees: (city.length * 7) % 40, note: 'invented' })
