/** What get_status answers, for who reads it in a terminal. */

