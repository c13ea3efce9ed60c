// tests/consumer/links.cpp - an empty program: that it links with a whole library is what it shows.
int main() {}
