#include "XTensor/Place.h"

using namespace mlir;

std::string xtensor::placeOf(Location location) {
  auto place = location->findInstanceOf<FileLineColLoc>();
  return place ? (place.getFilename().strref() + ":" + Twine(place.getLine())).str() : "";
}
