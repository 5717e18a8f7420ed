/** Something whose events can be watched, declared by the shop that publishes them. */
export type Topic = {
  /** Such as `shop.thing`; the type of its events is `assay.<name>`. */
  name: string
  title: string
  /** What its subjects are, and one of them, for the documents. */
  subjects: string
  example: string
  /** Feeds of its subjects are open to everybody. */
  isPublic: boolean
  /** The one spelling of a subject, or undefined for what can never have events. No I/O. */
  subjectOf(text: string): string | undefined
}
