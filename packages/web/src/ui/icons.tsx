import type { ComponentChildren } from 'preact'

const icon = (children: ComponentChildren) => (
  <svg
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width="1.8"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    {children}
  </svg>
)

export const CopyIcon = () => icon(<path d="M9 9h10v11H9zM6 15H5V4h10v1" />)
export const DoneIcon = () => icon(<path d="m5 12.5 4.5 4.5L19 7.5" />)
export const MenuIcon = () => icon(<path d="M4 7h16M4 12h16M4 17h16" />)
export const CloseIcon = () => icon(<path d="m6 6 12 12M18 6 6 18" />)
export const SunIcon = () =>
  icon(
    <path d="M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4" />,
  )
export const MoonIcon = () => icon(<path d="M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z" />)

/** The balance of the assay office. */
export const Balance = () => (
  <svg viewBox="0 0 32 32" aria-hidden="true">
    <circle cx="16" cy="16" r="15" fill="#0b3d2e" />
    <path
      d="M16 6v18M10 25h12M7 10h18M7 10l-3 7h6zM25 10l-3 7h6z"
      fill="none"
      stroke="#f4d58d"
      stroke-width="2"
      stroke-linejoin="round"
      stroke-linecap="round"
    />
  </svg>
)

/** Cartouches of hallmarks: a shield for the signer, an octagon for what was paid, an oval for when. */
export const ShieldMark = () => (
  <svg
    viewBox="0 0 40 40"
    fill="none"
    stroke="currentColor"
    stroke-width="1.6"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    <path d="M6 5h28v17c0 7-6 11-14 14C12 33 6 29 6 22z" />
    <path d="m13 19 5 5.5 9.5-11" stroke-width="2.4" stroke-linecap="round" />
  </svg>
)
export const OctagonMark = () => (
  <svg
    viewBox="0 0 40 40"
    fill="none"
    stroke="currentColor"
    stroke-width="1.6"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    <path d="M13 4h14l9 9v14l-9 9H13l-9-9V13z" />
    <path
      d="M24.5 14.5c-1-1.6-2.600-2.200-4.500-2.200-2.600 0-4.600 1.300-4.600 3.600 0 5 9.500 2.400 9.500 7.700 0 2.600-2.200 4-4.900 4-2.300 0-4.200-.9-5.100-2.700M20 9.500v21"
      stroke-width="2"
      stroke-linecap="round"
    />
  </svg>
)
export const OvalMark = () => (
  <svg viewBox="0 0 40 40" fill="none" stroke="currentColor" stroke-width="1.6" aria-hidden="true">
    <ellipse cx="20" cy="20" rx="16" ry="17" />
    <path d="M14 13h12M14 19h12M14 25h7" stroke-width="2.200" stroke-linecap="round" />
  </svg>
)
export const BrokenMark = () => (
  <svg
    viewBox="0 0 40 40"
    fill="none"
    stroke="currentColor"
    stroke-width="1.6"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    <path d="M6 5h28v17c0 7-6 11-14 14C12 33 6 29 6 22z" />
    <path d="m14 13 12 12M26 13 14 25" stroke-width="2.4" stroke-linecap="round" />
  </svg>
)
