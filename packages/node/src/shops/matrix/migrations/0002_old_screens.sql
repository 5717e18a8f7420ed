-- Screens that nobody changed for long are deleted as others are saved.
create index concurrently matrix_screen_changed on matrix_screen (changed_at);
