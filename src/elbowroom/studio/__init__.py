"""Studio: repair and direct motion on a page in the browser."""
